/** Who acts: the caller of an operation, a flow, a bot, or the service itself. */
import type { ActorType, Scope } from "../../../../tools/contract/index.ts";

export type Role = "owner" | "admin" | "supervisor" | "agent";

/** Who acts: the caller of an operation, a flow, a bot, or the service itself. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** Whose an idempotency key is. */
export interface KeyOwner {
  readonly organization_id: string;
  readonly credential_id: string;
}

/** What makes an idempotency key unique. */
export interface IdempotencyKey extends KeyOwner {
  readonly route: string;
  readonly key: string;
}

/** What identifies a user's session. */
export interface Session {
  readonly organization_id: string;
  readonly user_id: string;
  /** A new password and deactivation raise the user's version. */
  readonly session_version: number;
  /** The family of refresh tokens; null in an access token of an earlier version. */
  readonly family_id: string | null;
}

/** The authenticated caller: no tenant's data is read without one. */
export interface Caller {
  readonly organization_id: string;
  readonly credential: {
    readonly type: "api_key" | "access_token";
    readonly id: string;
    readonly name: string;
    readonly expires_at: string | null;
  };
  readonly scopes: ReadonlySet<Scope>;
  /** The signed-in user; null for an API key. */
  readonly user: { id: string; email: string; name: string; role: Role } | null;
  /** Of an access token; null for an API key. */
  readonly session: Session | null;
  /** The id of the signed-in user, or of the user who created the API key. */
  readonly acts_for: string | null;
  /** The role of that user; null for a key that no user created, which is the operator's. */
  readonly role: Role | null;
}

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
