/** The actor of a change, and the caller of an operation. */
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

/** `tool` is the MCP tool that makes the call. */
export function actorOf(caller: Caller, tool: string | undefined): Actor {
  const { user, credential, scopes } = caller;
  const rules = rulesOfCall(caller, tool);
  const bound = {
    scopes,
    ...(tool === undefined ? {} : { via: { tool } }),
    ...(rules.length > 0 && { rules }),
  };
  return user
    ? { type: "user", id: user.id, name: user.name, ...bound }
    : { type: "api_key", id: credential.id, name: credential.name, ...bound };
}

function rulesOfCall({ rules, toolRules }: Caller, tool: string | undefined): readonly BoundRules[] {
  return tool === undefined || toolRules.length === 0 ? rules : [...rules, ...toolRules];
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
