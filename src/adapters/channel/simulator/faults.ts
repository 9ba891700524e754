/**
 * The faults that an organization injects into its simulated channel, and which messages they affect.
 *
 * Chance is a hash of the message's token and a purpose: the same message meets the same fault every time,
 * on every instance, so that tests are reproducible.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ChannelFailure, OutboundMessage, Pricing } from "../../../ports/channel/channel.ts";
import { reasonOf } from "../failure-reasons.ts";
import { phoneIdentifier } from "./phone-number.ts";

const delay_ms = z.int().min(0).max(86_400_000);
const share = z.number().min(0).max(1);

/** Strict, because a misspelt fault would never be injected and a test would pass by mistake. */
export const Faults = z.strictObject({
  accept_delay_ms: delay_ms.default(0).describe("How long a send takes"),
  receipt_delay_ms: delay_ms.default(150).describe("From sent to delivered"),
  lost_receipts: share.default(0).describe("Receipts that never arrive"),
  doubled_receipts: share.default(0).describe("Receipts that arrive twice"),
  swapped_receipts: share
    .default(0)
    .describe("Messages whose receipts are delayed and arrive in reverse order"),
  lost_answers: share.default(0).describe("Messages that are accepted although the send throws"),
  fetch_media: z
    .boolean()
    .default(true)
    .describe("Whether the media of messages is fetched; false to work offline"),
  pricing: z
    .strictObject({
      category: z.string().min(1).max(64).nullable().default(null).describe("null: as the message was sent"),
      is_free: z.boolean().default(false),
      share: share.default(1),
    })
    .nullable()
    .default(null)
    .describe("What receipts say that messages are charged as; null: nothing"),
  failures: z
    .array(
      z.strictObject({
        code: z.int().describe("The channel's code"),
        share: share.default(1),
        to: phoneIdentifier.optional().describe("Only messages to this number"),
      }),
    )
    .max(50)
    .default([])
    .describe("Messages that fail; the first entry that applies counts"),
});
export type Faults = z.output<typeof Faults>;

/** True for a `share` of all tokens, independently for each purpose. */
export function isTriggered(share: number, token: string, purpose: string): boolean {
  if (share <= 0) {
    return false;
  }
  const hash = createHash("sha256").update(`${purpose}\n${token}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48 < share;
}

/** What the receipts of a message say that it is charged as. */
export function findPricing({ pricing }: Faults, token: string): Pricing | null {
  const isPriced = pricing !== null && isTriggered(pricing.share, token, "pricing");
  return isPriced ? { category: pricing.category, is_free: pricing.is_free } : null;
}

/** How a message fails: at once, later by a receipt, or temporarily. */
export type InjectedFailure =
  | { readonly kind: "refused" | "late"; readonly failure: ChannelFailure }
  | { readonly kind: "busy"; readonly failure: ChannelFailure; readonly retryAfterMs: number };

/** The failure to inject into this message; null for none. */
export function findInjectedFailure(
  faults: Faults,
  { token, to }: OutboundMessage,
  now: Date,
): InjectedFailure | null {
  const triggered = faults.failures.find((entry) => {
    const isRecipient = entry.to === undefined || entry.to === to.value;
    return isRecipient && isTriggered(entry.share, token, hashPurpose(entry.code, now));
  });
  if (!triggered) {
    return null;
  }
  const { kind, title, retryAfterMs } =
    faultCodes[triggered.code] ?? rejectedAtOnce(`Error ${triggered.code}`);
  const { code } = triggered;
  const detail = "Injected by the simulator's faults.";
  const failure = { reason: reasonOf(code), channel_code: code, title, detail };
  return kind === "busy" ? { kind, failure, retryAfterMs } : { kind, failure };
}

/**
 * A throttle has a new chance in each period of its wait; otherwise a throttled message would never be sent.
 */
function hashPurpose(code: number, now: Date): string {
  const { kind, retryAfterMs } = faultCodes[code] ?? rejectedAtOnce("");
  return kind === "busy" ? `failure ${code} ${Math.floor(now.getTime() / retryAfterMs)}` : `failure ${code}`;
}

interface FaultCode {
  readonly kind: InjectedFailure["kind"];
  readonly title: string;
  readonly retryAfterMs: number;
}

const rejectedAtOnce = (title: string): FaultCode => ({ kind: "refused", title, retryAfterMs: 0 });
const failedLater = (title: string): FaultCode => ({ kind: "late", title, retryAfterMs: 0 });
const throttled = (title: string, retryAfterMs: number): FaultCode => ({ kind: "busy", title, retryAfterMs });

/** WhatsApp's codes and when each one is reported. A code that is not listed is rejected at once. */
const faultCodes: Readonly<Record<number, FaultCode>> = {
  4: throttled("Application request limit reached", 60_000), // WhatsApp reports whole minutes
  80007: throttled("Account rate limit reached", 60_000),
  130429: throttled("Throughput reached", 1_000), // counted by the second
  131056: throttled("Too many messages to this recipient", 6_000), // one message in 6 s to the same person
  100: rejectedAtOnce("Invalid parameter"),
  190: rejectedAtOnce("Access token expired"),
  368: rejectedAtOnce("Temporarily blocked for policy violations"),
  131000: rejectedAtOnce("Something went wrong"),
  131008: rejectedAtOnce("Required parameter missing"),
  131009: rejectedAtOnce("Parameter value invalid"),
  131021: rejectedAtOnce("Recipient is the sender"),
  131031: rejectedAtOnce("Account locked"),
  131048: rejectedAtOnce("Spam rate limit reached"),
  131051: rejectedAtOnce("Message type unsupported"),
  130472: failedLater("Recipient is in an experiment"),
  131026: failedLater("Message undeliverable"),
  131042: failedLater("Payment problem on the business account"),
  131047: failedLater("Re-engagement message: more than 24 hours since the recipient's last message"),
  131049: failedLater("Not delivered, to keep the ecosystem healthy"),
  131050: failedLater("Recipient has stopped marketing messages"),
  131053: failedLater("Media could not be fetched"),
};
