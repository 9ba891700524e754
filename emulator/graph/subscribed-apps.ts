/** The apps that get an account's webhooks. */
import { invalidParameter } from "../contract/graph-error.ts";
import { type Answer, json } from "../http/answer.ts";
import { type Account, type App, findNode } from "../state/store.ts";
import { verifyCallback } from "../webhooks/handshake.ts";
import type { World } from "../world.ts";
import type { GraphRequest } from "./request.ts";

/** Subscribes the app of the token. Another address for this account is verified first. */
export async function subscribeApp(request: GraphRequest<Account>): Promise<Answer> {
  const { world, node: account, token, headers } = request;
  const hasBody = headers["content-length"] !== "0" && headers["content-type"]?.includes("json");
  const { override_callback_uri: url, verify_token } = hasBody ? await request.readJson() : {};
  if (url === undefined) {
    account.subscriptions.set(token.app_id, { override_callback_uri: null });
    return json({ success: true });
  }
  if (typeof url !== "string" || typeof verify_token !== "string") {
    throw invalidParameter("override_callback_uri and verify_token must be sent together.");
  }
  await verifyCallback(url, verify_token);
  account.subscriptions.set(token.app_id, { override_callback_uri: url });
  return json({ success: true, data: describeSubscriptions(world, account) });
}

export function listSubscribedApps({ world, node: account }: GraphRequest<Account>): Answer {
  return json({ data: describeSubscriptions(world, account) });
}

export function unsubscribeApp({ node: account, token }: GraphRequest<Account>): Answer {
  account.subscriptions.delete(token.app_id);
  return json({ success: true });
}

function describeSubscriptions({ store }: World, account: Account): object[] {
  return [...account.subscriptions].flatMap(([appId, { override_callback_uri }]) => {
    const app = findNode(store, "app", appId);
    return app ? describeSubscription(app, override_callback_uri) : [];
  });
}

function describeSubscription({ id, name }: App, override: string | null): object {
  const link = `https://www.facebook.com/games/?app_id=${id}`;
  return {
    whatsapp_business_api_data: { id, name, link },
    ...(override === null ? {} : { override_callback_uri: override }),
  };
}
