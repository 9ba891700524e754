/** The types of a tool call: its caller, its request and its functions. */
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Scope } from "../../../tools/contract/index.ts";
import type { AllowedOperations } from "../../../tools/rule-operations.ts";
import type { Client } from "../../client/index.ts";
import type { ListedTool, ToolFilter, ToolVisibility } from "../tool-list/index.ts";
import type { ToolFailure } from "./failures/index.ts";
import type { ReportProgress } from "./progress.ts";

export interface McpCaller {
  /** Calls the service as this caller. */
  readonly client: Client;
  /** The credential of the caller; by default the client's own. */
  readonly key?: string;
  readonly filter: ToolFilter;
  /** Undefined while the scopes are unknown: then only the service checks them. */
  scopes(): ReadonlySet<Scope> | undefined;
  /** The operations that its rules allow; undefined while they are unknown. */
  allowed?(): AllowedOperations | undefined;
  /** The tools that the service has, if known. */
  availableTools?(): ReadonlySet<string> | undefined;
  /** Resolves when the scopes are known, or need not be waited for any longer. */
  waitForAccess?(): Promise<void>;
}

export function visibilityOf(caller: McpCaller): ToolVisibility {
  return {
    scopes: caller.scopes(),
    allowed: caller.allowed?.(),
    filter: caller.filter,
    availableTools: caller.availableTools?.(),
  };
}

export interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly reportProgress?: ReportProgress | undefined;
  /** Asks the user of the client; undefined if the client can't. */
  readonly askUser?: AskUser | undefined;
  /** The user's answer to the question that was the result of an earlier request of this call. */
  readonly answered?: UserAnswer | undefined;
}

export interface UserQuestion {
  readonly message: string;
  /** Comes back with the answer. */
  readonly state: string;
}

export interface UserAnswer {
  readonly state: string;
  readonly answer: "accept" | "decline" | "cancel";
}

/** @returns the answer, or the result that asks the client for it. */
export type AskUser = (question: UserQuestion) => Promise<UserAnswer | InputRequiredResult>;

export type ToolResult = CallToolResult | InputRequiredResult;

/** Calls a tool by name. @returns the result for the MCP client. */
export type RunTool = (caller: McpCaller, call: ToolCall) => Promise<ToolResult>;

/** The outcome of a call, before it is formatted as a result. */
export type ToolOutcome =
  | {
      readonly answer: object;
      readonly input: Readonly<Record<string, unknown>>;
      readonly failure?: undefined;
      /** Replaces the answer: it asks the user of the client first. */
      readonly question?: InputRequiredResult;
    }
  | { readonly failure: ToolFailure };

/** Executes a known tool. @returns the service's answer, unformatted. */
export type ExecuteTool = (
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
) => Promise<ToolOutcome & { readonly idempotencyKey?: string }>;
