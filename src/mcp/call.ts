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
import { type Operation, permits, type Scope } from "../../tools/contract/index.ts";
import { CallFailure, type Client, patienceOf, Unreachable, waitMsOf } from "../client/index.ts";
import type { Log } from "../ports/log.ts";
import { offerCallable } from "./actions.ts";
import { present } from "./answer.ts";
import { explain, type Trouble } from "./explain.ts";
import type { ToolList, Viewer } from "./list.ts";
import type { LocalFile } from "./local-file.ts";
import { isRead, type Narrowing } from "./narrow.ts";
import { type Report, reportWaiting } from "./progress.ts";
import { executeToolName, readExecution, SearchRefusal, search, searchToolsName } from "./search.ts";
import type { ListedTool } from "./tools.ts";

/** Who calls. */
export interface McpCaller {
  /** The client's own key when left out. */
  readonly key?: string;
  readonly narrowing: Narrowing;
  /** Undefined while they are not known: then the service decides alone. */
  scopes(): ReadonlySet<Scope> | undefined;
  /** The tools that the service was learned to have, where that was learned. */
  built?(): ReadonlySet<string> | undefined;
  /** Waited for before a list is answered. */
  ready?(): Promise<void>;
}

/** What decides over the lists that a caller is shown. */
export function viewerOf(caller: McpCaller): Viewer {
  return { scopes: caller.scopes(), narrowing: caller.narrowing, built: caller.built?.() };
}

export interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly report?: Report | undefined;
}

export type RunTool = (caller: McpCaller, call: ToolCall) => Promise<CallToolResult>;

/** Clients give up after 30 s or more; a failure that arrives before is worth more than a success after. */
const usualMs = 25_000;

/** A model is told to wait rather than kept waiting for longer. */
const longestWaitMs = 2_000;

const idempotencyMeta = "io.tidings/idempotency-key";

/** Loads what reading arguments needs, once. */
export const loadArguments = memoize(() => import("./arguments.ts"));

interface Parts {
  readonly client: Client;
  readonly list: ToolList;
  readonly log: Log;
  /** The most characters that an answer may have. */
  readonly resultLimit: number;
  /** The folder whose files may be named in a call. */
  readonly uploadRoot?: string | undefined;
}

/** What a call came to, before it is put into words. */
export type Outcome =
  | {
      readonly answer: object;
      readonly input: Readonly<Record<string, unknown>>;
      readonly trouble?: undefined;
    }
  | { readonly trouble: Trouble };

/** Runs a tool that exists, for whoever wants its answer and not its words. */
export type Perform = (
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
) => Promise<Outcome & { readonly idempotencyKey?: string }>;

export function createPerform(parts: Omit<Parts, "resultLimit">): Perform {
  return async (tool, caller, call) => {
    try {
      const prepared = await prepare(tool, caller, call, parts.uploadRoot);
      if (prepared.refusal) {
        return { trouble: prepared.refusal };
      }
      await using _file = prepared.file;
      return await send(parts, { ...prepared, tool, caller, call });
    } catch (error) {
      parts.log.error({ err: error, tool: tool.name }, "a tool call failed unexpectedly");
      return { trouble: { code: "internal", message: "Something went wrong here." } };
    }
  };
}

export function createRunTool(parts: Parts, perform: Perform): RunTool {
  const { list, resultLimit } = parts;
  const run = async (tool: ListedTool, caller: McpCaller, call: ToolCall): Promise<CallToolResult> => {
    const { idempotencyKey, ...outcome } = await perform(tool, caller, call);
    const told = idempotencyKey === undefined ? {} : { _meta: { [idempotencyMeta]: idempotencyKey } };
    if (outcome.trouble) {
      return { ...refused(tool.name, outcome.trouble, caller.key, !isRead(tool)), ...told };
    }
    const answer =
      tool.operation === "get_conversation_context"
        ? offerCallable(outcome.answer, (name) => isCallable(list.find(name), caller.narrowing))
        : outcome.answer;
    return { ...present(tool, outcome.input, answer, resultLimit), ...told };
  };
  return async (caller, call) => {
    if (caller.narrowing.isSearch && (call.name === searchToolsName || call.name === executeToolName)) {
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

function isCallable(tool: ListedTool | undefined, narrowing: Narrowing): boolean {
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
      await caller.ready?.();
      return search(list.reachable(viewerOf(caller)), call.arguments ?? {});
    }
    const wanted = readExecution(call.arguments ?? {});
    const tool = list.find(wanted.name);
    return tool
      ? await run(tool, caller, { ...call, ...wanted })
      : refused(call.name, {
          code: "tool_not_found",
          message: `There is no tool named ${wanted.name.slice(0, 128)}.`,
          error: { fix: `Find its name with ${searchToolsName}.` },
        });
  } catch (error) {
    if (error instanceof SearchRefusal) {
      return refused(call.name, { status: 400, code: "invalid_request", message: error.message });
    }
    throw error;
  }
}

/** What is settled before the service is asked: narrowing, scope, idempotency key, arguments. */
async function prepare(
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
  uploadRoot: string | undefined,
) {
  const setting = caller.narrowing.hiddenBy(tool);
  if (setting !== undefined) {
    return { refusal: hidden(setting) };
  }
  const { readCall, refuse, refuseScope } = await loadArguments();
  const scopes = caller.scopes();
  if (scopes && !permits(scopes, tool.scope)) {
    return { refusal: refuseScope(tool.scope) };
  }
  const idempotencyKey = call.meta?.[idempotencyMeta] ?? randomUUID();
  if (!isHeader(idempotencyKey, 255)) {
    return { refusal: refuse("invalid_idempotency_key") };
  }
  return { ...(await readCall(tool, call.arguments ?? {}, uploadRoot)), idempotencyKey };
}

interface Prepared {
  readonly tool: ListedTool;
  readonly caller: McpCaller;
  readonly call: Omit<ToolCall, "name">;
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
  readonly file?: LocalFile | undefined;
  readonly idempotencyKey: string;
}

async function send({ client, log }: Omit<Parts, "resultLimit">, prepared: Prepared) {
  const { tool, caller, call, operation, input, file, idempotencyKey } = prepared;
  const told = isRead(tool) ? {} : { idempotencyKey };
  const waitMs = waitMsOf(operation, input);
  const timeoutMs = patienceOf(waitMs, usualMs);
  using _ = reportWaiting(call.report, waitMs);
  try {
    const answer = await client.call(operation, input, {
      key: caller.key,
      ...(isRead(tool) ? { signal: call.signal } : { idempotencyKey }),
      timeoutMs,
      longestWaitMs,
      headers: traceOf(call.meta),
      ...(file && { file }),
    });
    return { answer, input, ...told };
  } catch (error) {
    if (error instanceof Unreachable) {
      log.warn({ err: error, tool: tool.name }, "the service can't be reached");
    }
    return { trouble: toTrouble(error, call.signal, timeoutMs), ...told };
  }
}

/** @throws what is no failure of the call. */
function toTrouble(error: unknown, signal: AbortSignal, timeoutMs: number): Trouble {
  if (error instanceof Unreachable) {
    // Not its own sentence, which names the host: the log does that.
    return {
      code: error.code,
      message: silences[error.code](timeoutMs / 1000),
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

function hidden(setting: string): Trouble {
  return {
    code: "tool_hidden",
    message: `${setting} keeps this tool from being used here.`,
    error: { fix: `Use another tool, or ask whoever runs this server to change ${setting}.` },
  };
}

function refused(name: string, trouble: Trouble, key?: string, isWrite = false): CallToolResult {
  return { isError: true, content: [{ type: "text", text: explain(name, trouble, { key, isWrite }) }] };
}

const silences = {
  unreachable: () => "The service can't be reached, or broke off before it answered.",
  timeout: (seconds: number) => `The service did not answer within ${seconds} s.`,
} as const;

/** The W3C trace context, whose names in `_meta` are those of its headers. */
function traceOf(meta: ToolCall["meta"]): Record<string, string> {
  const names = ["traceparent", "tracestate"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = meta?.[name];
      return isHeader(value, 512) ? [[name, value]] : [];
    }),
  );
}

/** Whether a header can carry it. */
function isHeader(value: unknown, length: number): value is string {
  return typeof value === "string" && value.length <= length && /^[\x20-\x7e]+$/.test(value);
}

function memoize<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
