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
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isGatewayName, isRead, type ListedTool, type ToolList } from "../tool-list/index.ts";
import { addHiddenTools } from "./add-hidden-tools.ts";
import { type ExecuteTool, type McpCaller, type RunTool, type ToolCall, visibilityOf } from "./call.ts";
import { createFailureResult } from "./describe-failure.ts";
import { idempotencyMetaKey } from "./execute.ts";
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
  const run = async (tool: ListedTool, caller: McpCaller, call: ToolCall): Promise<CallToolResult> => {
    const { idempotencyKey, ...outcome } = await executeTool(tool, caller, call);
    const resultMeta =
      idempotencyKey === undefined ? {} : { _meta: { [idempotencyMetaKey]: idempotencyKey } };
    const isHidden = (name: string) => list.isHidden(name, visibilityOf(caller));
    if (outcome.failure) {
      const options = { key: caller.key, isWrite: !isRead(tool), isHidden };
      return { ...createFailureResult(tool.name, outcome.failure, options), ...resultMeta };
    }
    const offered =
      tool.offers === undefined
        ? outcome.answer
        : filterActions(outcome.answer, tool.offers, (name) => !isHidden(name));
    const answer =
      tool.hides === undefined
        ? offered
        : addHiddenTools(offered, tool.hides, { tools: list.all, filter: caller.filter });
    return { ...createToolResult(tool, outcome.input, answer, resultLimit), ...resultMeta };
  };
  return async (caller, call) => {
    if (isGatewayName(call.name)) {
      return runGateway(list, caller, call, run);
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

export { type ExecuteTool, type McpCaller, type RunTool, visibilityOf } from "./call.ts";
export { describeToolFailure } from "./describe-failure.ts";
export { createExecuteTool, loadArguments } from "./execute.ts";
export type { ReportProgress } from "./progress.ts";
export { combineResults, defaultResultLimit, type ResultPart } from "./result.ts";
