/** The record of acts: what is known of a call afterwards. */
import type { Failure, Operation } from "../../../../../../tools/contract/index.ts";
import type { Queries } from "../../../../../database/database.ts";
import type { Caller } from "../../actor.ts";
import type { Transaction } from "../../transaction.ts";

/** Who made a call. */
export interface ActAgent {
  /** `operator` for acts that concern no organization. */
  readonly organization_id: string;
  readonly type: "api_key" | "user" | "operator" | "system";
  /** Of the API key or the user. */
  readonly id: string;
  readonly name: string;
  /** The sign-in to which the access token belongs. */
  readonly session_id: string | null;
}

/** One call. Without secrets, and without texts of its input. */
export interface RecordedAct {
  readonly organization_id: string;
  readonly id: string;
  readonly created_at: string;
  readonly agent_type: ActAgent["type"];
  readonly agent_id: string;
  readonly agent_name: string;
  readonly session_id: string | null;
  readonly operation: string;
  /** The MCP tool that made the call. */
  readonly tool: string | null;
  /** From `redactInput`; null once a contact that they named was erased. */
  readonly arguments: unknown;
  readonly status: number;
  /** The code of the failure, also of a call that waits. */
  readonly error: string | null;
  /** The budget that the failure names. */
  readonly budget: unknown;
  /** Until the response was ready, before its commit. */
  readonly duration_ms: number;
  /** The ids in the input, and of a write also those in its response. */
  readonly ids: readonly string[];
}

/** How often a credential read something in one minute. */
export interface CountedReads {
  readonly organization_id: string;
  readonly agent_type: ActAgent["type"];
  readonly agent_id: string;
  readonly agent_name: string;
  readonly operation: string;
  /** The beginning of the minute. */
  readonly minute: string;
  readonly count: number;
}

/** Stores the record: a part of the module that owns its tables. */
export interface ActStore {
  insert(db: Queries, acts: readonly RecordedAct[]): Promise<void>;
  /** Adds to the stored counts. */
  addReads(db: Queries, reads: readonly CountedReads[]): Promise<void>;
}

/** The record of this process. */
export interface ActLog {
  /** The record of a call that a route makes for an operation. Its caller may not be known yet. */
  begin(call: Omit<RecordedCall, "acts">, caller?: Caller): CallRecord;
  /** Writes with the commit of what the calls have changed: one statement, and no wait. */
  writeWith(tx: Transaction, acts: readonly RecordedAct[]): void;
  /** Writes soon, while nobody waits. */
  add(act: RecordedAct): void;
  countRead(agent: ActAgent, operation: string, now: Date): void;
  /** Resolves when everything is written that was added and counted. */
  settle(): Promise<void>;
}

/** What of a call is recorded. */
export interface RecordedCall {
  readonly acts: ActLog;
  /** The operation's name. */
  readonly name: string;
  readonly operation: Operation;
  readonly tool: string | undefined;
  readonly input: unknown;
  readonly now: Date;
}

interface RecordedResponse {
  readonly status: number;
  readonly body: unknown;
}

/** The record of a call while it runs. */
export interface CallRecord {
  /** Names the caller of a call that had no credential, such as a sign-in. */
  identify(agent: ActAgent): void;
  /** Replaces the input, which is not known before a form has been read. */
  read(input: unknown): void;
  /** The act that has this response. Undefined if the caller is not known. */
  toAct(response: RecordedResponse): RecordedAct | undefined;
  /** Records the effect in the transaction of the effect. */
  writeWith(tx: Transaction, response: RecordedResponse): void;
  /** Records in the same way that a failed call waits. */
  holdWith(tx: Transaction, response: RecordedResponse, failure: Failure): void;
  /** The transaction of the effect does not know yet what the call does: `end` or `fail` records it. */
  defer(): void;
  /** Records what no transaction has recorded. */
  end(response: RecordedResponse & { readonly isReplay: boolean }): void;
  /** Records a refusal. */
  fail(error: unknown): void;
}

export function agentOf({ organization_id, user, credential, session }: Caller): ActAgent {
  return user
    ? { organization_id, type: "user", id: user.id, name: user.name, session_id: session?.family_id ?? null }
    : { organization_id, type: "api_key", id: credential.id, name: credential.name, session_id: null };
}

/** The owner of acts that concern no organization. No organization has such an id. */
export const noOrganization = "operator";

export const operatorAgent: ActAgent = {
  organization_id: noOrganization,
  type: "operator",
  id: "operator",
  name: "Operator",
  session_id: null,
};
