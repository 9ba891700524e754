/** What Meta says of a number: the messaging limit of its business, its quality rating and its throughput. */
import { z } from "zod";
import type { NumberLimits } from "../../../ports/channel/account.ts";
import type { WhatsAppAccount } from "./account.ts";
import { askGraph, parseAnswer, segment, type WhatsAppSettings } from "./http.ts";

const text = z.string().nullish().catch(null);

const PhoneNumber = z.object({
  whatsapp_business_manager_messaging_limit: text,
  quality_rating: text,
  throughput: z.object({ level: text }).nullish().catch(null),
});

/** The fields of a number that have its limits. */
export const limitFields = Object.keys(PhoneNumber.shape).join(",");

const qualities = new Map([
  ["GREEN", "green"],
  ["YELLOW", "yellow"],
  ["RED", "red"],
] as const satisfies readonly (readonly [string, NumberLimits["quality"]])[]);

const rates = new Map([
  ["STANDARD", 80],
  ["HIGH", 1_000],
]);

/** Undefined if the API rejects the request, for example because the token has expired. */
export async function readLimits(
  settings: WhatsAppSettings,
  credentials: WhatsAppAccount,
  signal: AbortSignal,
): Promise<NumberLimits | undefined> {
  const path = `/${segment(credentials.phone_number_id)}?fields=${limitFields}`;
  const answer = await askGraph({ settings, credentials, signal }, { method: "GET", path });
  if (answer.outcome === "rejected") {
    return undefined;
  }
  return toNumberLimits(answer.value);
}

/** @param value the answer to a request for `limitFields`. */
export function toNumberLimits(value: unknown): NumberLimits {
  const { quality_rating, throughput, ...number } = parseAnswer(PhoneNumber, value);
  return {
    messaging_limit: toLimit(number.whatsapp_business_manager_messaging_limit ?? ""),
    quality: find(qualities, quality_rating),
    messages_per_second: find(rates, throughput?.level),
  };
}

/** For example TIER_250 or TIER_10K. TIER_UNLIMITED, and what is not known, is no limit. */
function toLimit(tier: string): number | null {
  const [, digits, thousands] = /^TIER_(\d{1,6})(K?)$/.exec(tier) ?? [];
  return Number(digits ?? 0) * (thousands ? 1_000 : 1) || null;
}

function find<Value>(values: ReadonlyMap<string, Value>, name: string | null | undefined): Value | null {
  return values.get(name ?? "") ?? null;
}
