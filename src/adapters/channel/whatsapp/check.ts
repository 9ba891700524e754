/** Checks that the account of an inbox works, with one request that changes nothing. */
import { z } from "zod";
import type { CheckResult } from "../../../ports/channel/channel.ts";
import type { WhatsAppAccount } from "./account.ts";
import { explainNumber, explainToken } from "./connect.ts";
import { isMissingPermission, isUnknownObject, reactionTo, toFailure } from "./error-codes.ts";
import {
  askGraph,
  describeNoAnswer,
  type GraphError,
  isUnsent,
  parseAnswer,
  segment,
  unsentTitle,
  type WhatsAppSettings,
} from "./http.ts";
import { limitFields, toNumberLimits } from "./number-limits.ts";

interface CheckedNumber {
  readonly account: WhatsAppAccount;
  /** The inbox's number, E.164. */
  readonly phone_number: string;
}

const PhoneNumber = z.object({ display_phone_number: z.string() });

/** @throws an error of our own, or the reason of the signal. */
export async function checkNumber(
  settings: WhatsAppSettings,
  { account, phone_number }: CheckedNumber,
  signal: AbortSignal,
): Promise<CheckResult> {
  const path = `/${segment(account.phone_number_id)}?fields=display_phone_number,${limitFields}`;
  const api = { settings, credentials: account, signal };
  const answer = await askGraph(api, { method: "GET", path }).catch(toUnavailable);
  if (answer.outcome === "unavailable") {
    return answer;
  }
  if (answer.outcome === "rejected") {
    return explainRejection(answer.error);
  }
  const { display_phone_number } = parseAnswer(PhoneNumber, answer.value);
  return (
    explainNumber(display_phone_number, phone_number) ?? {
      outcome: "working",
      limits: toNumberLimits(answer.value),
    }
  );
}

type Unavailable = Extract<CheckResult, { outcome: "unavailable" }>;

function toUnavailable(error: unknown): Unavailable {
  const title = isUnsent(error) ? unsentTitle : describeNoAnswer(error);
  if (title === undefined) {
    throw error;
  }
  const failure = { reason: "channel_unreachable", channel_code: null, title, detail: null } as const;
  return { outcome: "unavailable", failure };
}

function explainRejection(error: GraphError): CheckResult {
  if (reactionTo(error).reaction.startsWith("wait")) {
    return { outcome: "unavailable", failure: toFailure(error) };
  }
  if (isUnknownObject(error)) {
    const reason = "the access token can't read a phone number with this id.";
    return { outcome: "refused", field: "phone_number_id", reason };
  }
  if (isMissingPermission(error)) {
    const reason = "it may not read the number; give it the permission whatsapp_business_management.";
    return { outcome: "refused", field: "access_token", reason };
  }
  return explainToken(error) ?? { outcome: "stopped", failure: toFailure(error) };
}
