/**
 * Executes one tool call: idempotency key → filter → scope → arguments → the operation.
 *
 * A read is aborted when its caller cancels. A write, once started, is not: it would be unknown
 * whether it was executed.
 */
import { randomUUID } from "node:crypto";
import { isInputRequiredResult } from "@modelcontextprotocol/server";
import { type Operation, toolHeader } from "../../../tools/contract/index.ts";
import { type CallOptions, NoResponseError, timeoutFor, waitMsOf } from "../../client/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { createHidingLookup, isRead, type ListedTool, tools } from "../tool-list/index.ts";
import type { AskUser, ExecuteTool, McpCaller, ToolCall, UserAnswer } from "./call.ts";
import { reportRejection, toToolFailure } from "./failures/index.ts";
import type { LocalFile } from "./local-file.ts";
import { reportWaiting, waitWithCounts } from "./progress.ts";
import { confirmablePlanOf } from "./result.ts";

/** Clients give up after 30 s or more: an error before that is more useful than a success after it. */
const defaultTimeoutMs = 25_000;

/** If the service asks for a longer wait, the call fails and its text names the wait. */
const maxRetryWaitMs = 2_000;

export const idempotencyMetaKey = "io.tidings/idempotency-key";

/** Loads the catalogue, which is needed to read arguments, once. */
export const loadArguments = memoize(() => import("./arguments.ts"));

export interface ExecuteOptions {
  readonly log: Log;
  /** The folder whose files may be named in a call. */
  readonly uploadRoot?: string | undefined;
}

export function createExecuteTool(options: ExecuteOptions): ExecuteTool {
  return async (tool, caller, call) => {
    try {
      const prepared = await prepareCall(tool, caller, call, options.uploadRoot);
      if (prepared.rejected) {
        await reportRejection(caller, { tool: tool.name, code: prepared.rejected.code });
        return { failure: prepared.rejected };
      }
      await using _file = prepared.file;
      return await callService(options, { ...prepared, tool, caller, call });
    } catch (error) {
      options.log.error({ err: error, tool: tool.name }, "a tool call failed unexpectedly");
      return { failure: { code: "internal", message: "Something went wrong here." } };
    }
  };
}

/** All checks before the service is called. */
async function prepareCall(
  tool: ListedTool,
  caller: McpCaller,
  call: Omit<ToolCall, "name">,
  uploadRoot: string | undefined,
) {
  const { parseCall, rejectCall } = await loadArguments();
  const idempotencyKey = call.meta?.[idempotencyMetaKey] ?? randomUUID();
  if (!isHeaderValue(idempotencyKey, 255)) {
    return { rejected: rejectCall("invalid_idempotency_key") };
  }
  const request = {
    name: tool.name,
    arguments: call.arguments ?? {},
    scopes: caller.scopes(),
    allowed: caller.allowed?.(),
    hiddenBy: (name: string) => findHiding(caller.filter, name),
  };
  return { ...(await parseCall(request, uploadRoot)), idempotencyKey };
}

const findHiding = createHidingLookup(tools);

interface PreparedCall {
  readonly tool: ListedTool;
  readonly caller: McpCaller;
  readonly call: Omit<ToolCall, "name">;
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
  readonly file?: LocalFile | undefined;
  readonly idempotencyKey: string;
}

async function callService({ log }: Pick<ExecuteOptions, "log">, prepared: PreparedCall) {
  const { tool, caller, call, operation, input, file, idempotencyKey } = prepared;
  const resultMeta = isRead(tool) ? {} : { idempotencyKey };
  const waitMs = waitMsOf(operation, input);
  const timeoutMs = timeoutFor(waitMs, defaultTimeoutMs);
  const options = {
    key: caller.key,
    ...(isRead(tool) ? { signal: call.signal } : { idempotencyKey }),
    timeoutMs,
    maxRetryWaitMs,
    headers: { ...traceHeadersOf(call.meta), [toolHeader]: tool.name },
  };
  const callOnce = (fields: Record<string, unknown>) =>
    caller.client.call(operation, fields, { ...options, ...(file && { file }) });
  try {
    const { answered, askUser } = call;
    const confirming = { client: caller.client, options, tool: tool.name, input };
    if (answered) {
      return { answer: await answerFor(confirming, answered), input, ...resultMeta };
    }
    const answer = await waitAndReport(prepared, waitMs, callOnce);
    const plan = confirmablePlanOf(answer);
    const asked = askUser && plan && (await askFor(confirming, plan, askUser));
    if (!asked) {
      return { answer, input, ...resultMeta };
    }
    return isInputRequiredResult(asked)
      ? { answer, input, question: asked, ...resultMeta }
      : { answer: await answerFor(confirming, asked), input, ...resultMeta };
  } catch (error) {
    if (error instanceof NoResponseError) {
      log.warn({ err: error, tool: tool.name }, "the service can't be reached");
    }
    return { failure: toToolFailure(error, call.signal, timeoutMs), ...resultMeta };
  }
}

interface Confirming {
  readonly client: McpCaller["client"];
  readonly options: CallOptions;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Loaded on demand, like the catalogue that it imports. */
const loadConfirmation = memoize(() => import("./confirm.ts"));

/** Asks the user. @returns undefined if a person has to release the plan instead. */
async function askFor({ tool, input, ...call }: Confirming, plan: string, askUser: AskUser) {
  const { beginConfirmation, digestCall } = await loadConfirmation();
  const question = await beginConfirmation({ ...call, digest: digestCall(tool, input) }, plan);
  return question && (await askUser(question));
}

async function answerFor({ tool, input, ...call }: Confirming, answered: UserAnswer) {
  const { digestCall, sendAnswer } = await loadConfirmation();
  return sendAnswer({ ...call, digest: digestCall(tool, input) }, answered);
}

/** Calls the service, and reports progress while it waits. */
async function waitAndReport(
  { operation: { progress }, input, call: { reportProgress } }: PreparedCall,
  waitMs: number,
  callOnce: (fields: Record<string, unknown>) => Promise<object>,
): Promise<object> {
  if (progress !== undefined && reportProgress !== undefined && waitMs > 0) {
    const options = { fields: progress, report: reportProgress, waitMs };
    return waitWithCounts(options, (seconds) => callOnce({ ...input, timeout_seconds: seconds }));
  }
  using _ = reportWaiting(reportProgress, waitMs);
  return await callOnce(input);
}

/** The W3C trace context. In `_meta`, the members have the names of the headers. */
function traceHeadersOf(meta: ToolCall["meta"]): Record<string, string> {
  const names = ["traceparent", "tracestate"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = meta?.[name];
      return isHeaderValue(value, 512) ? [[name, value]] : [];
    }),
  );
}

/** Whether `value` is valid in a header. */
function isHeaderValue(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength && /^[\x20-\x7e]+$/.test(value);
}

function memoize<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
