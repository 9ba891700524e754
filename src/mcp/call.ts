/**
 * Runs one tool call: name → scope → arguments → the operation over HTTP → what the model is told.
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
import type { Operation } from "../../tools/operation.ts";
import { permits, type Scope } from "../../tools/scopes.ts";
import { CallFailure, type Client, Unreachable } from "../client.ts";
import type { Log } from "../ports/log.ts";
import { explain, type Trouble } from "./explain.ts";
import type { ToolList } from "./list.ts";
import type { ListedTool } from "./tools.ts";

/** Who calls. */
export interface McpCaller {
  /** The client's own key when left out. */
  readonly key?: string;
  /** Undefined while they are not known: then the service decides alone. */
  scopes(): ReadonlySet<Scope> | undefined;
  /** Waited for before a list is answered. */
  ready?(): Promise<void>;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

export type RunTool = (caller: McpCaller, call: ToolCall) => Promise<CallToolResult>;

/** Clients give up after 30 s or more; a failure that arrives before is worth more than a success after. */
const timeoutMs = 25_000;

/** A model is told to wait rather than kept waiting for longer. */
const longestWaitMs = 2_000;

const idempotencyMeta = "io.tidings/idempotency-key";

/** Loads what reading arguments needs, once. */
export const loadArguments = memoize(() => import("./arguments.ts"));

interface Parts {
  readonly client: Client;
  readonly list: ToolList;
  readonly log: Log;
}

export function createRunTool(parts: Parts): RunTool {
  const { list, log } = parts;
  return async (caller, call) => {
    const tool = list.find(call.name);
    if (!tool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${call.name.slice(0, 128)}`);
    }
    try {
      const prepared = await prepare(tool, caller, call);
      return prepared.refusal
        ? refused(tool, prepared.refusal)
        : await send(parts, { ...prepared, tool, caller, call });
    } catch (error) {
      log.error({ err: error, tool: tool.name }, "a tool call failed unexpectedly");
      return refused(tool, { code: "internal", message: "Something went wrong here." });
    }
  };
}

/** What is settled before the service is asked: scope, idempotency key, arguments. */
async function prepare(tool: ListedTool, caller: McpCaller, call: ToolCall) {
  const { readCall, refuse, refuseScope } = await loadArguments();
  const scopes = caller.scopes();
  if (scopes && !permits(scopes, tool.scope)) {
    return { refusal: refuseScope(tool.scope) };
  }
  const idempotencyKey = call.meta?.[idempotencyMeta] ?? randomUUID();
  if (!isHeader(idempotencyKey, 255)) {
    return { refusal: refuse("invalid_idempotency_key") };
  }
  return { ...readCall(tool, call.arguments ?? {}), idempotencyKey };
}

interface Prepared {
  readonly tool: ListedTool;
  readonly caller: McpCaller;
  readonly call: ToolCall;
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
  readonly idempotencyKey: string;
}

async function send({ client, log }: Parts, prepared: Prepared): Promise<CallToolResult> {
  const { tool, caller, call, operation, input, idempotencyKey } = prepared;
  const isWrite = operation.method !== "GET";
  const told = isWrite ? { _meta: { [idempotencyMeta]: idempotencyKey } } : {};
  try {
    const answer = await client.call(operation, input, {
      key: caller.key,
      ...(isWrite ? { idempotencyKey } : { signal: call.signal }),
      timeoutMs,
      longestWaitMs,
      headers: traceOf(call.meta),
    });
    return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer, ...told };
  } catch (error) {
    if (error instanceof Unreachable) {
      log.warn({ err: error, tool: tool.name }, "the service can't be reached");
    }
    return { ...refused(tool, toTrouble(error, call.signal), isWrite), ...told };
  }
}

/** @throws what is no failure of the call. */
function toTrouble(error: unknown, signal: AbortSignal): Trouble {
  if (error instanceof CallFailure || error instanceof Unreachable) {
    return error;
  }
  if (signal.aborted) {
    return { code: "cancelled", message: "The call was cancelled." };
  }
  throw error;
}

function refused(tool: ListedTool, trouble: Trouble, isWrite = false): CallToolResult {
  return { isError: true, content: [{ type: "text", text: explain(tool.name, trouble, isWrite) }] };
}

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
