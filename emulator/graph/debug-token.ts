/** What Meta says of an access token: whose it is, what it may do, and until when. */
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { type Answer, json } from "../http/answer.ts";
import { findNode, type Token } from "../state/store.ts";
import type { GraphRequest } from "./request.ts";

/** @throws GraphError for the token of another app, or if the request has no token of an app. */
export function debugToken({ world, token, query }: Omit<GraphRequest<never>, "node">): Answer {
  if (token.kind !== "app") {
    throw new GraphError(100, undefined, { title: "You must provide an app access token" });
  }
  const found = world.store.tokens.get(query.get("input_token") ?? "");
  if (!found) {
    const error = { code: 190, message: "Malformed access token" };
    return json({ data: { error, is_valid: false, scopes: [] } });
  }
  if (found.app_id !== token.app_id) {
    throw invalidParameter("The App_id in the input_token did not match the Viewing App");
  }
  const name = findNode(world.store, "app", found.app_id)?.name;
  return json({ data: { application: name, ...describeToken(found, world.clock.now()) } });
}

function describeToken({ app_id, permissions, account_ids, expires_at }: Token, now: number): object {
  const known = { app_id, type: "SYSTEM_USER", expires_at: Math.floor((expires_at ?? 0) / 1_000) };
  if (expires_at !== null && expires_at <= now) {
    const error = { code: 190, message: "Error validating access token", subcode: 463 };
    return { ...known, error, is_valid: false, scopes: [] };
  }
  const granular_scopes = permissions.map((scope) => ({ scope, target_ids: [...account_ids] }));
  return { ...known, is_valid: true, scopes: permissions, granular_scopes };
}
