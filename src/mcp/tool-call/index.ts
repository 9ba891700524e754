/**
 * Runs one tool call: name → narrowing → scope → arguments → the operation over HTTP → what the model is told.
 *
 * An unknown tool is an error of the protocol; everything else that goes wrong is a result that says so,
 * without structured content, and with nothing in it that is ours to know. A read ends when its caller
 * gives up. A write, once begun, does not: nobody could tell whether it was done.
 *
 * The request's `_meta` may bring `io.tidings/idempotency-key` (1 to 255 characters; a call repeated under
 * its key happens once) and the trace context. The key that was used stands in the result's `_meta`.
 */
import { randomUUID } from "node:crypto";
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type Operation, permits, type Scope } from "../../../tools/contract/index.ts";
import { CallFailure, type Client, NoResponseError, timeoutFor, waitMsOf } from "../../client/index.ts";
import type { Log } from "../../ports/log.ts";
import {
  executeToolName,
  isRead,
  type ListedTool,
  readExecuteArguments,
  SearchInputError,
  searchTools,
  searchToolsName,
  type ToolFilter,
  type ToolList,
  type ToolVisibility,
} from "../tool-list/index.ts";
import { describeToolFailure, type ToolFailure } from "./failure.ts";
import { filterActions } from "./filter-actions.ts";
import type { LocalFile } from "./local-file.ts";
import { type ReportProgress, reportWaiting } from "./progress.ts";
import { createToolResult } from "./result.ts";

/** Who calls. */
export interface McpCaller {
  /** The client's own key when left out. */
  readonly key?: string;
  readonly filter: ToolFilter;
  /** Undefined while they are not known: then the service decides alone. */
  scopes(): ReadonlySet<Scope> | undefined;
  /** The tools that the service was learned to have, where that was learned. */
  availableTools?(): ReadonlySet<string> | undefined;
  /** Waited for before a list is answered. */
  waitForAccess?(): Promise<void>;
}

/** What decides over the lists that a caller is shown. */
export function visibilityOf(caller: McpCaller): ToolVisibility {
  return { scopes: caller.scopes(), filter: caller.filter, availableTools: caller.availableTools?.() };
}

export interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly reportProgress?: ReportProgress | undefined;
}

export type RunTool = (caller: McpCaller, call: ToolCall) => Promise<CallToolResult>;

/** Clients give up after 30 s or more; a failure that arrives before is worth more than a success after. */
const defaultTimeoutMs = 25_000;

/** A model is told to wait rather than kept waiting for longer. */
const maxRetryWaitMs = 2_000;

const idempotencyMetaKey = "io.tidings/idempotency-key";

/** Loads what reading arguments needs, once. */
export const loadArguments = memoize(() => import("./arguments.ts"));

interface Dependencies {
  readonly client: Client;
  readonly list: ToolList;
  readonly log: Log;
  /** The most characters that an answer may have. */
  readonly resultLimit: number;
  /** The folder whose files may be named in a call. */
  readonly uploadRoot?: string | undefined;
}

/** What a call came to, before it is put into words. */
export type ToolOutcome =
  | {
      readonly answer: object;
      readonly input: Readonly<Record<string, unknown>>;
      readonly failure?: undefined;
    }
  | { readonly failure: ToolFailure };

/** Runs a tool that exists, for whoever wants its answer and not its words. */
export type ExecuteTool = (
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
) => Promise<ToolOutcome & { readonly idempotencyKey?: string }>;

export function createExecuteTool(parts: Omit<Dependencies, "resultLimit">): ExecuteTool {
  return async (tool, caller, call) => {
    try {
      const prepared = await prepareCall(tool, caller, call, parts.uploadRoot);
      if (prepared.rejected) {
        return { failure: prepared.rejected };
      }
      await using _file = prepared.file;
      return await callService(parts, { ...prepared, tool, caller, call });
    } catch (error) {
      parts.log.error({ err: error, tool: tool.name }, "a tool call failed unexpectedly");
      return { failure: { code: "internal", message: "Something went wrong here." } };
    }
  };
}

export function createRunTool(parts: Dependencies, executeTool: ExecuteTool): RunTool {
  const { list, resultLimit } = parts;
  const run = async (tool: ListedTool, caller: McpCaller, call: ToolCall): Promise<CallToolResult> => {
    const { idempotencyKey, ...outcome } = await executeTool(tool, caller, call);
    const resultMeta =
      idempotencyKey === undefined ? {} : { _meta: { [idempotencyMetaKey]: idempotencyKey } };
    if (outcome.failure) {
      return { ...failureResult(tool.name, outcome.failure, caller.key, !isRead(tool)), ...resultMeta };
    }
    const answer =
      tool.offers === undefined
        ? outcome.answer
        : filterActions(outcome.answer, tool.offers, (name) => isCallable(list.find(name), caller.filter));
    return { ...createToolResult(tool, outcome.input, answer, resultLimit), ...resultMeta };
  };
  return async (caller, call) => {
    if (caller.filter.isSearch && (call.name === searchToolsName || call.name === executeToolName)) {
      return runSearch(list, caller, call, run);
    }
    const tool = list.find(call.name);
    if (!tool) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool: ${call.name.slice(0, 128)}. tools/list has the names.`,
      );
    }
    return run(tool, caller, call);
  };
}

function isCallable(tool: ListedTool | undefined, narrowing: ToolFilter): boolean {
  return tool !== undefined && narrowing.hiddenBy(tool) === undefined;
}

/** The two tools of search mode: both are results even where they fail, so that a model can read why. */
async function runSearch(
  list: ToolList,
  caller: McpCaller,
  call: ToolCall,
  run: (tool: ListedTool, caller: McpCaller, call: ToolCall) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    if (call.name === searchToolsName) {
      await caller.waitForAccess?.();
      return searchTools(list.callable(visibilityOf(caller)), call.arguments ?? {});
    }
    const execution = readExecuteArguments(call.arguments ?? {});
    const tool = list.find(execution.name);
    return tool
      ? await run(tool, caller, { ...call, ...execution })
      : failureResult(call.name, {
          code: "tool_not_found",
          message: `There is no tool named ${execution.name.slice(0, 128)}.`,
          error: { fix: `Find its name with ${searchToolsName}.` },
        });
  } catch (error) {
    if (error instanceof SearchInputError) {
      return failureResult(call.name, { status: 400, code: "invalid_request", message: error.message });
    }
    throw error;
  }
}

/** What is settled before the service is asked: narrowing, scope, idempotency key, arguments. */
async function prepareCall(
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
  uploadRoot: string | undefined,
) {
  const setting = caller.filter.hiddenBy(tool);
  if (setting !== undefined) {
    return { rejected: hiddenFailure(setting) };
  }
  const { parseCall, rejectCall, rejectMissingScope } = await loadArguments();
  const scopes = caller.scopes();
  if (scopes && !permits(scopes, tool.scope)) {
    return { rejected: rejectMissingScope(tool.scope) };
  }
  const idempotencyKey = call.meta?.[idempotencyMetaKey] ?? randomUUID();
  if (!isHeaderValue(idempotencyKey, 255)) {
    return { rejected: rejectCall("invalid_idempotency_key") };
  }
  return { ...(await parseCall(tool, call.arguments ?? {}, uploadRoot)), idempotencyKey };
}

interface PreparedCall {
  readonly tool: ListedTool;
  readonly caller: McpCaller;
  readonly call: Omit<ToolCall, "name">;
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
  readonly file?: LocalFile | undefined;
  readonly idempotencyKey: string;
}

async function callService({ client, log }: Omit<Dependencies, "resultLimit">, prepared: PreparedCall) {
  const { tool, caller, call, operation, input, file, idempotencyKey } = prepared;
  const resultMeta = isRead(tool) ? {} : { idempotencyKey };
  const waitMs = waitMsOf(operation, input);
  const timeoutMs = timeoutFor(waitMs, defaultTimeoutMs);
  using _ = reportWaiting(call.reportProgress, waitMs);
  try {
    const answer = await client.call(operation, input, {
      key: caller.key,
      ...(isRead(tool) ? { signal: call.signal } : { idempotencyKey }),
      timeoutMs,
      maxRetryWaitMs: maxRetryWaitMs,
      headers: traceHeadersOf(call.meta),
      ...(file && { file }),
    });
    return { answer, input, ...resultMeta };
  } catch (error) {
    if (error instanceof NoResponseError) {
      log.warn({ err: error, tool: tool.name }, "the service can't be reached");
    }
    return { failure: toToolFailure(error, call.signal, timeoutMs), ...resultMeta };
  }
}

/** @throws what is no failure of the call. */
function toToolFailure(error: unknown, signal: AbortSignal, timeoutMs: number): ToolFailure {
  if (error instanceof NoResponseError) {
    // Not its own sentence, which names the host: the log does that.
    return {
      code: error.code,
      message: noResponseMessages[error.code](timeoutMs / 1000),
      mayHaveRun: error.mayHaveRun,
    };
  }
  if (error instanceof CallFailure) {
    return error;
  }
  if (signal.aborted) {
    return { code: "cancelled", message: "The call was cancelled." };
  }
  throw error;
}

function hiddenFailure(setting: string): ToolFailure {
  return {
    code: "tool_hidden",
    message: `${setting} keeps this tool from being used here.`,
    error: { fix: `Use another tool, or ask whoever runs this server to change ${setting}.` },
  };
}

function failureResult(name: string, failure: ToolFailure, key?: string, isWrite = false): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: describeToolFailure(name, failure, { key, isWrite }) }],
  };
}

const noResponseMessages = {
  unreachable: () => "The service can't be reached, or broke off before it answered.",
  timeout: (seconds: number) => `The service did not answer within ${seconds} s.`,
} as const;

/** The W3C trace context, whose names in `_meta` are those of its headers. */
function traceHeadersOf(meta: ToolCall["meta"]): Record<string, string> {
  const names = ["traceparent", "tracestate"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = meta?.[name];
      return isHeaderValue(value, 512) ? [[name, value]] : [];
    }),
  );
}

/** Whether a header can carry it. */
function isHeaderValue(value: unknown, length: number): value is string {
  return typeof value === "string" && value.length <= length && /^[\x20-\x7e]+$/.test(value);
}

function memoize<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

export { describeToolFailure } from "./failure.ts";
export type { ReportProgress } from "./progress.ts";
export { combineResults, defaultResultLimit, type ResultPart } from "./result.ts";
