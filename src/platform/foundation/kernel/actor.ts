/** The actor of a change, and the caller of an operation. */
import type { BoundBudgets } from "../../../../tools/budgets.ts";
import type { ActorType, Scope } from "../../../../tools/contract/index.ts";
import type { BoundRules } from "../../../../tools/rules.ts";
import type { Caller } from "../../../ports/transport/caller.ts";

export type { Caller, Role, Session } from "../../../ports/transport/caller.ts";

/** Who acts: the caller of an operation, a flow, a bot, or the service itself. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** How it acts, which is stored with its messages. */
  readonly via?: {
    /** The MCP tool of an assistant. */
    readonly tool?: string;
    /** The step of a flow. */
    readonly node_id?: string;
    /** What an answer of the bot is based on. */
    readonly sources?: string[];
  };
  /** The rules that bind what it does; undefined: none. */
  readonly rules?: readonly BoundRules[] | undefined;
  /** The budgets that count what it does; undefined: none. */
  readonly budgets?: readonly BoundBudgets[] | undefined;
  /** Whether no budget holds it back: a person acts, or has released what it does. */
  readonly exceedsBudgets?: boolean;
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

/** The service itself, in its jobs and without a signed-in caller. */
export const system: Actor = { type: "system", id: "system", name: "Tidings", scopes: new Set() };

/**
 * The owner of the operator's idempotency keys, which belong to no organization. No organization has such an
 * id.
 */
export const operatorOwner: KeyOwner = { organization_id: "operator", credential_id: "operator" };

/** `tool` is the MCP tool that makes the call, whose rules the caller has then. */
export function actorOf(
  { user, credential, scopes, rules, budgets }: Caller,
  tool: string | undefined,
): Actor {
  const isPresent = user !== null && tool === undefined;
  const bound = {
    scopes,
    ...(tool === undefined ? {} : { via: { tool } }),
    ...(rules.length > 0 && { rules }),
    ...(budgets.length > 0 && { budgets }),
    ...(isPresent && { exceedsBudgets: true }),
  };
  return user
    ? { type: "user", id: user.id, name: user.name, ...bound }
    : { type: "api_key", id: credential.id, name: credential.name, ...bound };
}

/**
 * Whether a message of this actor counts as a reply. Messages of flows, bots and the service itself do not.
 */
export function isPerson({ type }: Pick<Actor, "type">): boolean {
  return type === "user" || type === "api_key" || type === "phone";
}

/** The part of an actor that is stored with its changes. */
export function recordOf({ type, id, name }: Actor): Pick<Actor, "type" | "id" | "name"> {
  return { type, id, name };
}
