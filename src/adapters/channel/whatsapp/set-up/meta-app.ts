/** The steps of the set-up that need the app's own token: what the access token may do, and the webhook. */
import { z } from "zod";
import { type Api, askGraph, parseAnswer, segment } from "../http.ts";
import {
  changed,
  describeError,
  failed,
  newToken,
  ok,
  rejected,
  type SetUp,
  type StepResult,
} from "./step.ts";

const permissions = ["whatsapp_business_management", "whatsapp_business_messaging"];
const object = "whatsapp_business_account";

/** What this service reads of an account's changes. */
export const subscribedFields: readonly string[] = [
  "messages",
  "message_template_status_update",
  "message_template_quality_update",
  "message_template_components_update",
  "template_category_update",
  "account_update",
  "smb_message_echoes",
  "smb_app_state_sync",
  "history",
  "calls",
  "user_preferences",
  "business_capability_update",
  "phone_number_quality_update",
  "phone_number_name_update",
  "account_alerts",
  "security",
];

const Debugged = z.object({
  data: z.object({
    is_valid: z.boolean(),
    app_id: z.string().optional(),
    expires_at: z.number().nullish(),
    scopes: z.array(z.string()).default([]),
  }),
});

interface TokenSteps {
  readonly app: StepResult;
  /** Undefined if the app can't ask for it. */
  readonly token: StepResult | undefined;
}

/** The id and the secret of the app are accepted, and the token is the app's and may do what is needed. */
export async function checkToken(setUp: SetUp): Promise<TokenSteps> {
  const { app_id, access_token } = setUp.account;
  const path = `/debug_token?${new URLSearchParams({ input_token: access_token })}`;
  const answer = await askGraph(appApi(setUp), { method: "GET", path });
  if (answer.outcome === "accepted") {
    const { data } = parseAnswer(Debugged, answer.value);
    return { app: ok("Meta accepts the app id and the app secret."), token: describeToken(data, app_id) };
  }
  const { code, title } = answer.error;
  // The app is asked for the token of another one.
  if (code === 100 && title.includes("did not match")) {
    return { app: ok("Meta accepts the app id and the app secret."), token: ofOtherApp };
  }
  const isWrongApp = code === 190 || code === 101;
  const fix = "Send the credentials again with the id and the secret under App settings → Basic.";
  const app = isWrongApp
    ? failed("Meta does not accept the app id with this app secret.", fix)
    : rejected(answer.error, fix);
  return { app, token: undefined };
}

const ofOtherApp = failed("The access token is of another app.", newToken);

function describeToken(
  { is_valid, app_id: owner, expires_at, scopes }: z.output<typeof Debugged>["data"],
  app_id: string,
): StepResult {
  if (!is_valid) {
    return failed("The access token is wrong, has expired or was revoked.", newToken);
  }
  if (owner !== app_id) {
    return ofOtherApp;
  }
  const missing = permissions.filter((name) => !scopes.includes(name));
  if (missing.length > 0) {
    return failed(`The access token lacks the permission ${missing.join(" and ")}.`, newToken);
  }
  if (expires_at) {
    const detail = `The access token works until ${new Date(expires_at * 1_000).toISOString()}.`;
    return { ...ok(detail), fix: newToken };
  }
  return ok("The access token is valid, has both permissions and does not expire.");
}

const Subscriptions = z.object({
  data: z.array(
    z.object({
      object: z.string(),
      callback_url: z.string().nullish(),
      active: z.boolean().nullish(),
      fields: z.array(z.object({ name: z.string() })).default([]),
    }),
  ),
});

/**
 * The app reports to the address of this inbox, or to another of the same organization, which passes on what
 * is of this inbox. Fields that are subscribed already stay so.
 */
export async function subscribeWebhook(setUp: SetUp): Promise<StepResult> {
  const { account, callback_url, other_callback_urls, replacesCallback } = setUp;
  if (callback_url === null) {
    return failed(
      "The service has no public address to which Meta could report.",
      "Set TIDINGS_PUBLIC_URL to an https address that the internet reaches, and restart the service.",
    );
  }
  const api = appApi(setUp);
  const path = `/${segment(account.app_id)}/subscriptions`;
  const listed = await askGraph(api, { method: "GET", path });
  if (listed.outcome === "rejected") {
    return rejected(listed.error, byHand);
  }
  const subscription = parseAnswer(Subscriptions, listed.value).data.find((one) => one.object === object);
  const known = subscription?.fields.map(({ name }) => name) ?? [];
  const current = subscription?.callback_url ?? null;
  const isOwn = current === callback_url || other_callback_urls.includes(current ?? "");
  const missing = subscribedFields.filter((name) => !known.includes(name));
  if (isOwn && subscription?.active !== false && missing.length === 0) {
    return ok(`The app reports to ${current}, with all fields.`);
  }
  if (current !== null && !isOwn && !replacesCallback) {
    return failed(
      `The app reports to another address: ${withoutQuery(current)}`,
      "If nothing else needs the reports, repeat it with replace_callback: then the app reports to this service instead.",
    );
  }
  const fields = [...new Set([...known, ...subscribedFields])];
  const json = {
    object,
    callback_url,
    fields,
    verify_token: account.verify_token,
    include_values: true,
  };
  const answer = await askGraph(api, { method: "POST", path, json, timeoutMs: 20_000 });
  if (answer.outcome === "accepted") {
    return changed(`The app now reports to ${callback_url}, with all fields.`);
  }
  return answer.error.code === callbackFailed
    ? notVerified(callback_url, describeError(answer.error))
    : rejected(answer.error, byHand);
}

/** The callback address did not answer Meta's request with the challenge. */
const callbackFailed = 2200;

function notVerified(url: string, reason: string): StepResult {
  return failed(
    `Meta could not verify ${url}. ${reason}`,
    "Check that the internet reaches this address over https, with a valid certificate.",
  );
}

const byHand =
  "Enter callback_url of the inbox and its verify token in the app's dashboard, under WhatsApp → Configuration → Webhook.";

/** Requests with the token of the app itself. */
function appApi({ account: { app_id, app_secret }, api }: SetUp): Api {
  return { ...api, credentials: { access_token: `${app_id}|${app_secret}`, app_secret } };
}

/** A query can contain a secret of another service. */
function withoutQuery(address: string): string {
  return address.split(/[?#]/)[0] ?? "";
}
