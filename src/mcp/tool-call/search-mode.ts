/** Runs the two tools of search mode: one finds tools, the other runs a tool that was found. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import {
  executeToolName,
  type ListedTool,
  readExecuteArguments,
  SearchInputError,
  searchTools,
  searchToolsName,
  type ToolList,
} from "../tool-list/index.ts";
import { type McpCaller, type ToolCall, visibilityOf } from "./call.ts";
import { createFailureResult } from "./describe-failure.ts";

export function isSearchCall({ filter }: McpCaller, { name }: ToolCall): boolean {
  return filter.isSearch && (name === searchToolsName || name === executeToolName);
}

/** Errors are results too, so that a model can read them. */
export async function runSearch(
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
      : createFailureResult(call.name, {
          code: "tool_not_found",
          message: `There is no tool named ${execution.name.slice(0, 128)}.`,
          error: { fix: `Find its name with ${searchToolsName}.` },
        });
  } catch (error) {
    if (error instanceof SearchInputError) {
      return createFailureResult(call.name, { status: 400, code: "invalid_request", message: error.message });
    }
    throw error;
  }
}
