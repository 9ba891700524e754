/** The actor of a change, and the caller of an operation. */
import type { ActorType, Scope } from "../../../../tools/contract/index.ts";

export type Role = "owner" | "admin" | "supervisor" | "agent";

/** Who acts: the caller of an operation, a flow, a bot, or the service itself. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** The owner of an idempotency key. */
export interface KeyOwner {
  readonly organization_id: string;
  readonly credential_id: string;
}

/** The columns that make an idempotency key unique. */
export interface IdempotencyKey extends KeyOwner {
  readonly route: string;
  readonly key: string;
}

/** Identifies a user's session. */
export interface Session {
  readonly organization_id: string;
  readonly user_id: string;
  /** Raised by a new password and by deactivation. */
  readonly session_version: number;
  /** The family of refresh tokens; null in an access token of an earlier version. */
  readonly family_id: string | null;
}

/** The authenticated caller. Data of a tenant is never read without a caller. */
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
  /** The session of an access token; null for an API key. */
  readonly session: Session | null;
  /** The id of the signed-in user, or of the user who created the API key. */
  readonly acts_for: string | null;
  /**
   * The role of the user in `acts_for`; null for a key that no user created, which belongs to the operator.
   */
  readonly role: Role | null;
}

/** The service itself, in its jobs and without a signed-in caller. */
export const system: Actor = { type: "system", id: "system", name: "Tidings", scopes: new Set() };

/**
 * The owner of the operator's idempotency keys, which belong to no organization. No organization has such an
 * id.
 */
export const operatorOwner: KeyOwner = { organization_id: "operator", credential_id: "operator" };

export function actorOf({ user, credential, scopes }: Caller): Actor {
  return user
    ? { type: "user", id: user.id, name: user.name, scopes }
    : { type: "api_key", id: credential.id, name: credential.name, scopes };
}

/**
 * Whether a message of this actor counts as a reply. Messages of flows, bots and the service itself do not.
 */
export function isPerson({ type }: Pick<Actor, "type">): boolean {
  return type === "user" || type === "api_key";
}

/** The part of an actor that is stored with its changes. */
export function recordOf({ type, id, name }: Actor): Pick<Actor, "type" | "id" | "name"> {
  return { type, id, name };
}
