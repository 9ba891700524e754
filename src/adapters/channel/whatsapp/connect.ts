/**
 * Checks an account when an inbox gets it: the token, the number and its account, and the app's subscription.
 */
import { z } from "zod";
import type { ConnectResult, RefusedAccount } from "../../../ports/channel/account.ts";
import type { WhatsAppAccount } from "./account.ts";
import { isInvalidProof, reactionTo } from "./error-codes.ts";
import {
  type Api,
  askGraph,
  type GraphAnswer,
  type GraphError,
  parseAnswer,
  segment,
  type WhatsAppSettings,
} from "./http.ts";

interface Connection {
  readonly account: WhatsAppAccount;
  /** The inbox's number, E.164. */
  readonly phone_number: string;
}

const PhoneNumbers = z.object({
  data: z.array(z.object({ id: z.string(), display_phone_number: z.string() })),
  paging: z
    .object({ next: z.string().optional(), cursors: z.object({ after: z.string() }) })
    .partial()
    .optional(),
});

const maxPages = 20;
const expiredToken = 190;
type Field = keyof WhatsAppAccount;

export async function connect(
  settings: WhatsAppSettings,
  { account, phone_number }: Connection,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const api = { settings, credentials: account, signal };
  const waba = segment(account.waba_id);
  const found = await findNumber(api, account);
  if (found.outcome === "rejected") {
    return explain(found, {
      field: "waba_id",
      reason: "the access token can't read a WhatsApp Business Account with this id.",
    });
  }
  if (found.outcome === "missing") {
    return refuse("phone_number_id", "the WhatsApp Business Account has no phone number with this id.");
  }
  const otherNumber = explainNumber(found.display_phone_number, phone_number);
  if (otherNumber) {
    return otherNumber;
  }
  const subscribed = await askGraph(api, { method: "POST", path: `/${waba}/subscribed_apps` });
  if (subscribed.outcome === "rejected") {
    return explain(subscribed, {
      field: "access_token",
      reason: "it may not subscribe to the account; give it the permission whatsapp_business_management.",
    });
  }
  return checkApp(api, account);
}

const Subscriptions = z.object({
  data: z.array(z.object({ whatsapp_business_api_data: z.object({ id: z.string() }) })),
});

/** The app that has just subscribed is the token's own. */
async function checkApp(api: Api, { waba_id, app_id }: WhatsAppAccount): Promise<ConnectResult> {
  const answer = await askGraph(api, { method: "GET", path: `/${segment(waba_id)}/subscribed_apps` });
  if (answer.outcome === "rejected") {
    return explain(answer, {
      field: "access_token",
      reason: "it can't read the apps of the account; give it the permission whatsapp_business_management.",
    });
  }
  const { data } = parseAnswer(Subscriptions, answer.value);
  return data.some(({ whatsapp_business_api_data: { id } }) => id === app_id)
    ? { outcome: "connected" }
    : refuse("app_id", "the access token is of another app.");
}

type FoundNumber =
  | { readonly outcome: "found"; readonly display_phone_number: string }
  | { readonly outcome: "missing" }
  | RejectedAnswer;

/** Looks for a number among those of its account. */
export async function findNumber(
  api: Api,
  { waba_id, phone_number_id }: Pick<WhatsAppAccount, "waba_id" | "phone_number_id">,
): Promise<FoundNumber> {
  let after: string | undefined = "";
  for (let page = 0; page < maxPages && after !== undefined; page += 1) {
    const cursor: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const path = `/${segment(waba_id)}/phone_numbers?fields=id,display_phone_number&limit=100${cursor}`;
    const answer: GraphAnswer = await askGraph(api, { method: "GET", path });
    if (answer.outcome === "rejected") {
      return answer;
    }
    const { data, paging } = parseAnswer(PhoneNumbers, answer.value);
    const found = data.find(({ id }) => id === phone_number_id);
    if (found) {
      return { outcome: "found", display_phone_number: found.display_phone_number };
    }
    after = paging?.next === undefined ? undefined : paging.cursors?.after;
  }
  return { outcome: "missing" };
}

type RejectedAnswer = Extract<GraphAnswer, { outcome: "rejected" }>;

function explain(
  { error }: RejectedAnswer,
  { field, reason }: { readonly field: Field; readonly reason: string },
): ConnectResult {
  if (reactionTo(error).reaction.startsWith("wait")) {
    return { outcome: "unavailable" };
  }
  return explainToken(error) ?? refuse(field, reason);
}

/** Why the API accepts no request with the token; undefined for another error. */
export function explainToken(error: GraphError): RefusedAccount | undefined {
  if (isInvalidProof(error)) {
    return refuse("app_secret", "it is not the secret of the access token's app.");
  }
  return error.code === expiredToken || error.code === 0
    ? refuse("access_token", "the token is wrong, has expired or was revoked.")
    : undefined;
}

/** Undefined if the number at Meta is the inbox's, E.164. */
export function explainNumber(
  display_phone_number: string,
  phone_number: string,
): RefusedAccount | undefined {
  const number = `+${display_phone_number.replace(/\D/g, "")}`;
  return number === phone_number
    ? undefined
    : refuse("phone_number_id", `this id is of the number ${number}, and the inbox has ${phone_number}.`);
}

function refuse(field: Field, reason: string): RefusedAccount {
  return { outcome: "refused", field, reason };
}
