/** Keys with rules, and persons who release plans. */
import { apiKeys } from "../../tools/api-keys.ts";
import type { InputOf, Scope } from "../../tools/contract/index.ts";
import type { TestApp } from "./app.ts";
import { createUserWithRole, signIn } from "./users.ts";

export type RulesInput = InputOf<typeof apiKeys.set_api_key_rules>["rules"];

/** What tests read of an answer. */
export interface Answer {
  readonly data: {
    readonly id: string;
    readonly secret_key: string;
    readonly plan: { readonly id: string };
    readonly result: unknown;
  };
}

const everyday: readonly Scope[] = [
  "contacts:read",
  "contacts:write",
  "contacts:manage",
  "inbox:read",
  "inbox:write",
  "broadcasts:read",
  "broadcasts:create",
  "broadcasts:send",
  "templates:read",
  "templates:create",
  "templates:manage",
];

export function createApprovalHelpers(app: TestApp) {
  const createKey = async (rules: RulesInput, scopes: readonly string[] = everyday) => {
    const { data } = await app.call(apiKeys.create_api_key, { name: "Assistant", scopes: [...scopes] });
    await app.call(apiKeys.set_api_key_rules, { id: data.id, rules });
    return { id: data.id, key: data.secret_key };
  };

  /** The token of a person who has just signed in by password. */
  const signPerson = async (role: "admin" | "owner" | "agent" = "admin") => {
    const user = await createUserWithRole(app, role);
    const { access_token } = await signIn(app, user.email);
    return { ...user, token: access_token };
  };

  const decide = async (
    step: "approve" | "decline",
    { id, hash }: { readonly id: string; readonly hash: string },
    token: string,
  ) => {
    const json = { hash, reason: "Looks right" };
    const answer = await app.fetch(`/v1/plans/${id}/${step}`, { method: "POST", key: token, json });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };

  /** A request with a key, as the status and the body of its answer. */
  const request = async (
    [method, path, json]: readonly [method: string, path: string, json?: unknown],
    { key, idempotencyKey }: { readonly key: string; readonly idempotencyKey?: string },
  ) => {
    const headers: Record<string, string> =
      idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    const answer = await app.fetch(path, { method, key, headers, ...(json === undefined ? {} : { json }) });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };

  const send = (to: string, body: string, options: { key: string; idempotencyKey?: string }) =>
    request(["POST", "/v1/messages", { to, type: "text", text: { body } }], options);

  return { createKey, signPerson, decide, request, send };
}
