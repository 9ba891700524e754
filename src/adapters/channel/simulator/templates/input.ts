/**
 * What the controls of the simulated review authority take: how it reviews, and decisions about templates that it has.
 *
 * Strict, because a misspelt setting would have no effect and a test would pass by mistake.
 */
import { z } from "zod";
import { phoneNumber } from "../phone-number.ts";
import { textField } from "../text-field.ts";

const delayMessage = "Send a whole number of milliseconds from 0 to 86400000, which is a day.";
const flag = z.boolean("Send true or false.");
const reason = textField(512);

export const ReviewSettings = z.strictObject(
  {
    outcome: z
      .enum(
        ["approve", "reject", "hold"],
        "Send approve, reject or hold. Without name, no other is possible.",
      )
      .default("approve"),
    delay_ms: z
      .int(delayMessage)
      .min(0, delayMessage)
      .max(86_400_000, delayMessage)
      .default(1000)
      .describe("From the submission to the decision"),
    reason: reason.default("INVALID_FORMAT").describe("Of a rejection"),
    notices: flag.default(true).describe("Whether changes are reported"),
    busy: flag.default(false).describe("Whether submissions are answered with busy"),
    lost_answers: flag.default(false).describe("Whether a submission throws although it is stored"),
  },
  "Send an object.",
);
export type ReviewSettings = z.output<typeof ReviewSettings>;

export const ReviewDecision = z
  .strictObject({
    name: textField(512),
    language: textField(16).optional().describe("Default: every language"),
    phone_number: phoneNumber.optional().describe("The inbox's number. Default: every inbox"),
    outcome: z
      .enum(["approve", "reject", "pause", "disable"], "With name, send approve, reject, pause or disable.")
      .optional(),
    reason: reason.optional().describe("Of a rejection. Default: the one of the settings"),
    quality: z.enum(["GREEN", "YELLOW", "RED", "UNKNOWN"], "Send GREEN, YELLOW, RED or UNKNOWN.").optional(),
    category: z
      .enum(["authentication", "utility", "marketing"], "Send authentication, utility or marketing.")
      .optional(),
  })
  .refine(({ outcome, quality, category }) => outcome ?? quality ?? category, {
    path: ["outcome"],
    message: "Send outcome, quality or category.",
  })
  .refine(({ outcome, reason }) => reason === undefined || outcome === "reject", {
    path: ["reason"],
    message: "Only the outcome reject has a reason.",
  });
export type ReviewDecision = z.output<typeof ReviewDecision>;
