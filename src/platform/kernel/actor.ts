/** Who acts: the caller of an operation, a flow, a bot, or the service itself. */
import type { Actor, Caller, KeyOwner } from "./context.ts";

/** The service itself, in its jobs and without a signed-in caller. */
export const system: Actor = { type: "system", id: "system", name: "Tidings", scopes: new Set() };

/** Whose the operator's idempotency keys are. They belong to no organization; no id of one is like this. */
export const operatorOwner: KeyOwner = { organization_id: "operator", credential_id: "operator" };

export function actorOf({ user, credential, scopes }: Caller): Actor {
  return user
    ? { type: "user", id: user.id, name: user.name, scopes }
    : { type: "api_key", id: credential.id, name: credential.name, scopes };
}

/** Whether a message of this actor counts as a reply: a flow's, a bot's and the service's own do not. */
export function isPerson({ type }: Pick<Actor, "type">): boolean {
  return type === "user" || type === "api_key";
}

/** The part of an actor that is stored with what it did. */
export function recordOf({ type, id, name }: Actor): Pick<Actor, "type" | "id" | "name"> {
  return { type, id, name };
}
