/** The access token of a request. */
import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { findNode, type Token } from "../state/store.ts";
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
  const token = store.tokens.get(value);
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

/** A proof that the sender knows the app's secret is optional, and must be right. @throws GraphError 100 */
export function requireProof({ store }: World, { app_id, value }: Token, query: URLSearchParams): void {
  const proof = query.get("appsecret_proof");
  const secret = findNode(store, "app", app_id)?.secret ?? "";
  const expected = createHmac("sha256", secret).update(value).digest("hex");
  if (proof !== null && proof !== expected) {
    throw invalidParameter("Invalid appsecret_proof provided in the API argument");
  }
}
