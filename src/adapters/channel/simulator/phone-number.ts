/** Schemas for the phone numbers and user ids that the simulator's controls take. */
import { z } from "zod";
import { whatsAppAddresses } from "../capabilities.ts";

const [, userIds] = whatsAppAddresses;

/**
 * Digits with or without `+`, normalized to E.164. In a path the `+` may arrive as `%2B`, encoded twice, or
 * as a space, decoded as in a form.
 */
export const phoneNumber = z
  .string()
  .transform((value, context) => {
    const digits = /^\+?([1-9]\d{6,14})$/.exec(value.trim().replace(/^%2b/i, "+"))?.[1];
    if (digits === undefined) {
      context.addIssue({
        code: "custom",
        message: `${value} is not a phone number. Send the country code and the number, digits only, for example +14155550123.`,
      });
      return z.NEVER;
    }
    return `+${digits}`;
  })
  // The schema of the result, which responses have too.
  .pipe(z.string());

/** The id of a contact who hides the number, in WhatsApp's form. */
export const channelUserId = z
  .string()
  .trim()
  .regex(userIds.pattern, "Send an id like US.13491208655302741918.");

/** Identifies a phone: its number or, if that is hidden, the contact's id. */
export const phoneIdentifier = z.union(
  [channelUserId, phoneNumber],
  "Send a phone number with its country code, for example +14155550123, or a user id.",
);
