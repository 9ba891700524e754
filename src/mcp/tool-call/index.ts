/**
 * Runs a tool call and formats its result.
 *
 * An unknown tool is a protocol error. Every other error is a result with `isError`, a text that says what to
 * do next, and no internals.
 *
 * The request's `_meta` may contain `io.tidings/idempotency-key` (1 to 255 characters; a repeated
 * call with the same key is executed once) and the W3C trace context. The result's `_meta` contains
 * the key that was used.
 */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { nearestName } from "../../../tools/contract/index.ts";
import { isGatewayName, isRead, type ListedTool, type ToolList } from "../tool-list/index.ts";
import { addHiddenTools } from "./add-hidden-tools.ts";
import {
  type ExecuteTool,
  type McpCaller,
  type RunTool,
  type ToolCall,
  type ToolResult,
  visibilityOf,
} from "./call.ts";
import { idempotencyMetaKey } from "./execute.ts";
import { createFailureResult, reportRejection } from "./failures/index.ts";
import { filterActions } from "./filter-actions.ts";
import { runGateway } from "./gateways.ts";
import { createToolResult } from "./result.ts";

interface RunOptions {
  readonly list: ToolList;
  readonly executeTool: ExecuteTool;
  /** The maximum length of an answer in characters. */
  readonly resultLimit: number;
}

export function createRunTool({ list, executeTool, resultLimit }: RunOptions): RunTool {
  const run = async (tool: ListedTool, caller: McpCaller, call: ToolCall): Promise<ToolResult> => {
    const { idempotencyKey, ...outcome } = await executeTool(tool, caller, call);
    const resultMeta =
      idempotencyKey === undefined ? {} : { _meta: { [idempotencyMetaKey]: idempotencyKey } };
    const isHidden = (name: string) => list.isHidden(name, visibilityOf(caller));
    if (outcome.failure) {
      const options = { key: caller.key, isWrite: !isRead(tool), isHidden };
      return { ...createFailureResult(tool.name, outcome.failure, options), ...resultMeta };
    }
    if (outcome.question) {
      return outcome.question;
    }
    const offered =
      tool.offers === undefined
        ? outcome.answer
        : filterActions(outcome.answer, tool.offers, (name) => !isHidden(name));
    const answer =
      tool.hides === undefined
        ? offered
        : addHiddenTools(offered, tool.hides, { tools: list.all, filter: caller.filter });
    const canAsk = call.askUser !== undefined || call.answered !== undefined;
    const answered = { input: outcome.input, answer, canAsk };
    return { ...createToolResult(tool, answered, resultLimit), ...resultMeta };
  };
  return async (caller, call) => {
    if (isGatewayName(call.name)) {
      return runGateway(list, caller, call, run);
    }
    const tool = list.find(call.name);
    if (!tool) {
      await reportRejection(caller, { tool: call.name, code: "tool_not_found" });
      const names = list.all
        .map(({ name }) => name)
        .filter((name) => !list.isHidden(name, visibilityOf(caller)));
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeUnknownTool(call.name, names));
    }
    return run(tool, caller, call);
  };
}

/** @param known the names of the tools that the caller can call. */
function describeUnknownTool(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "" : `Did you mean ${nearest}? `;
  return `Unknown tool: ${name.slice(0, 128)}. ${hint}tools/list has the names.`;
}

export {
  type ExecuteTool,
  type McpCaller,
  type RunTool,
  type ToolCall,
  type UserAnswer,
  type UserQuestion,
  visibilityOf,
} from "./call.ts";
export { createExecuteTool, loadArguments } from "./execute.ts";
export { describeToolFailure } from "./failures/index.ts";
export { progressReporter, reportWaiting } from "./progress.ts";
export { combineResults, defaultResultLimit, type ResultPart } from "./result.ts";
