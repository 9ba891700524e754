/** The access token of a request. */
import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { findNode, type Store, type Token } from "../state/store.ts";
import type { World } from "../world.ts";

/** @throws GraphError 190: 401, with subcode 463 for a token that has expired */
export function requireToken(
  { store, clock }: World,
  request: IncomingMessage,
  query: URLSearchParams,
): Token {
  const [, given] = /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
  const value = given ?? query.get("access_token");
  if (value === null) {
    const title = "An access token is required to request this resource";
    throw new GraphError(190, undefined, { title });
  }
  const token = store.tokens.get(value) ?? findAppToken(store, value);
  if (!token) {
    const title = "Invalid OAuth access token - Cannot parse access token";
    throw new GraphError(190, undefined, { title });
  }
  if (token.expires_at !== null && token.expires_at <= clock.now()) {
    const title = "Error validating access token: Session has expired";
    throw new GraphError(190, undefined, { title, subcode: 463 });
  }
  return token;
}

/** The token of an app: its id and its secret. @throws GraphError 190 for another secret */
function findAppToken(store: Store, value: string): Token | undefined {
  const [, app_id = "", secret] = /^(\d+)\|(.*)$/.exec(value) ?? [];
  const app = findNode(store, "app", app_id);
  if (app && app.secret !== secret) {
    throw new GraphError(190, undefined, { title: "Invalid OAuth access token signature." });
  }
  return app && { kind: "app", value, app_id, account_ids: new Set(), permissions: [], expires_at: null };
}

/**
 * A proof that the sender knows the app's secret must be right, and may be left out unless the app requires
 * it. The token of the app contains the secret and needs none. @throws GraphError 100
 */
export function requireProof({ store }: World, token: Token, query: URLSearchParams): void {
  const proof = query.get("appsecret_proof");
  const app = findNode(store, "app", token.app_id);
  const expected = createHmac("sha256", app?.secret ?? "")
    .update(token.value)
    .digest("hex");
  if (proof === null && app?.requires_proof && token.kind === "user") {
    throw invalidParameter("API calls from the server require an appsecret_proof argument");
  }
  if (proof !== null && proof !== expected) {
    throw invalidParameter("Invalid appsecret_proof provided in the API argument");
  }
}
