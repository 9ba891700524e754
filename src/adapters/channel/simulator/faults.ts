/**
 * The faults that an organization injects into its simulated channel, and when each strikes.
 *
 * Chance is a hash of the message's token and a purpose: the same message meets the same fault
 * every time, on every instance, so that a test repeats.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ChannelFailure, Outbound } from "../../../ports/channel.ts";
import { phoneName } from "./phone-number.ts";

const delay_ms = z.int().min(0).max(86_400_000);
const share = z.number().min(0).max(1);

/** Misspelt faults are refused: one that never strikes would prove nothing. */
export const Faults = z.strictObject({
  accept_delay_ms: delay_ms.default(0).describe("How long send takes to answer"),
  receipt_delay_ms: delay_ms.default(150).describe("From sent to delivered"),
  lost_receipts: share.default(0).describe("Receipts that never arrive"),
  doubled_receipts: share.default(0).describe("Receipts that arrive twice"),
  swapped_receipts: share.default(0).describe("Messages whose receipts are held back and arrive in reverse"),
  lost_answers: share.default(0).describe("Messages that are taken although send throws"),
  failures: z
    .array(
      z.strictObject({
        code: z.int().describe("The channel's code"),
        share: share.default(1),
        to: phoneName.optional().describe("Only messages to this number"),
      }),
    )
    .max(50)
    .default([])
    .describe("Messages that fail; the first that strikes counts"),
});
export type Faults = z.output<typeof Faults>;

/** Whether chance falls on this token: for a `share` of all tokens it does, independently for each purpose. */
export function strikes(share: number, token: string, purpose: string): boolean {
  if (share <= 0) {
    return false;
  }
  const hash = createHash("sha256").update(`${purpose}\n${token}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48 < share;
}

/** How a message fails: at once, later by a receipt, or only just now. */
export type InjectedFailure =
  | { readonly kind: "refused" | "late"; readonly failure: ChannelFailure }
  | { readonly kind: "busy"; readonly failure: ChannelFailure; readonly retryAfterMs: number };

/** The failure that is injected into this message, if one is. */
export function injectedFailure(faults: Faults, { token, to }: Outbound, now: Date): InjectedFailure | null {
  const struck = faults.failures.find((entry) => {
    const isMeant = entry.to === undefined || entry.to === to;
    return isMeant && strikes(entry.share, token, purposeOf(entry.code, now));
  });
  if (!struck) {
    return null;
  }
  const { kind, title, retryAfterMs } = codes[struck.code] ?? refused(`Error ${struck.code}`);
  const failure = { channel_code: struck.code, title, detail: "Injected by the simulator's faults." };
  return kind === "busy" ? { kind, failure, retryAfterMs } : { kind, failure };
}

/** A throttle is drawn anew for each span of its wait: else a throttled message would never get through. */
function purposeOf(code: number, now: Date): string {
  const { kind, retryAfterMs } = codes[code] ?? refused("");
  return kind === "busy" ? `failure ${code} ${Math.floor(now.getTime() / retryAfterMs)}` : `failure ${code}`;
}

interface Code {
  readonly kind: InjectedFailure["kind"];
  readonly title: string;
  readonly retryAfterMs: number;
}

const refused = (title: string): Code => ({ kind: "refused", title, retryAfterMs: 0 });
const late = (title: string): Code => ({ kind: "late", title, retryAfterMs: 0 });
const busy = (title: string, retryAfterMs: number): Code => ({ kind: "busy", title, retryAfterMs });

/** WhatsApp's codes, and where each surfaces. A code that is not here is refused at once. */
const codes: Readonly<Record<number, Code>> = {
  4: busy("Application request limit reached", 60_000), // the real one names whole minutes
  80007: busy("Account rate limit reached", 60_000),
  130429: busy("Throughput reached", 1_000), // counted by the second
  131056: busy("Too many messages to this recipient", 6_000), // one message in 6 s to the same person
  100: refused("Invalid parameter"),
  190: refused("Access token expired"),
  368: refused("Temporarily blocked for policy violations"),
  131000: refused("Something went wrong"),
  131008: refused("Required parameter missing"),
  131009: refused("Parameter value invalid"),
  131021: refused("Recipient is the sender"),
  131031: refused("Account locked"),
  131048: refused("Spam rate limit reached"),
  131051: refused("Message type unsupported"),
  130472: late("Recipient is in an experiment"),
  131026: late("Message undeliverable"),
  131042: late("Payment problem on the business account"),
  131047: late("Re-engagement message: more than 24 hours since the recipient's last message"),
  131049: late("Not delivered, to keep the ecosystem healthy"),
  131050: late("Recipient has stopped marketing messages"),
  131053: late("Media could not be fetched"),
};
