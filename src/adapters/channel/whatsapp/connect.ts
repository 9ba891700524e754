/**
 * Checks an account when an inbox gets it: the token, the number and its account, and the app's subscription.
 */
import { createHmac } from "node:crypto";
import { z } from "zod";
import type { ConnectResult } from "../../../ports/channel/channel.ts";
import type { WhatsAppAccount } from "./account.ts";
import { reactionTo } from "./error-codes.ts";
import { type Api, askGraph, type GraphAnswer, parseAnswer, segment, type WhatsAppSettings } from "./http.ts";

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
  const api = { settings, token: account.access_token, signal };
  const waba = segment(account.waba_id);
  const numbers = await listNumbers(api, waba);
  if (!Array.isArray(numbers)) {
    return numbers;
  }
  const found = numbers.find(({ id }) => id === account.phone_number_id);
  if (!found) {
    return refuse("phone_number_id", "the WhatsApp Business Account has no phone number with this id.");
  }
  const digits = found.display_phone_number.replace(/\D/g, "");
  if (`+${digits}` !== phone_number) {
    return refuse(
      "phone_number_id",
      `this id is of the number +${digits}, and the inbox has ${phone_number}.`,
    );
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

/**
 * The app that has just subscribed is the token's own, and the secret is the app's: Meta checks the proof.
 */
async function checkApp(
  api: Api,
  { waba_id, app_id, app_secret, access_token }: WhatsAppAccount,
): Promise<ConnectResult> {
  const proof = createHmac("sha256", app_secret).update(access_token).digest("hex");
  const path = `/${segment(waba_id)}/subscribed_apps?appsecret_proof=${proof}`;
  const answer = await askGraph(api, { method: "GET", path });
  if (answer.outcome === "rejected") {
    return explain(answer, {
      field: "app_secret",
      reason:
        "it is not the secret of the access token's app, or the token can't read the apps of the account.",
    });
  }
  const { data } = parseAnswer(Subscriptions, answer.value);
  return data.some(({ whatsapp_business_api_data: { id } }) => id === app_id)
    ? { outcome: "connected" }
    : refuse("app_id", "the access token is of another app.");
}

/** All numbers of the account, or why they can't be read. */
async function listNumbers(api: Api, waba: string) {
  const numbers: z.output<typeof PhoneNumbers>["data"] = [];
  let after: string | undefined = "";
  for (let page = 0; page < maxPages && after !== undefined; page += 1) {
    const cursor: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const path = `/${waba}/phone_numbers?fields=id,display_phone_number&limit=100${cursor}`;
    const answer: GraphAnswer = await askGraph(api, { method: "GET", path });
    if (answer.outcome === "rejected") {
      return explain(answer, {
        field: "waba_id",
        reason: "the access token can't read a WhatsApp Business Account with this id.",
      });
    }
    const { data, paging } = parseAnswer(PhoneNumbers, answer.value);
    numbers.push(...data);
    after = paging?.next === undefined ? undefined : paging.cursors?.after;
  }
  return numbers;
}

type RejectedAnswer = Extract<GraphAnswer, { outcome: "rejected" }>;

function explain(
  { error }: RejectedAnswer,
  { field, reason }: { readonly field: Field; readonly reason: string },
): ConnectResult {
  if (reactionTo(error).reaction.startsWith("wait")) {
    return { outcome: "unavailable" };
  }
  if (error.title.includes("require an appsecret_proof")) {
    const reason =
      'the app wants a proof of its secret with each call: switch off "Require app secret" in its advanced settings.';
    return refuse("app_secret", reason);
  }
  return error.code === expiredToken || error.code === 0
    ? refuse("access_token", "the token is wrong, has expired or was revoked.")
    : refuse(field, reason);
}

function refuse(field: Field, reason: string): ConnectResult {
  return { outcome: "refused", field, reason };
}
