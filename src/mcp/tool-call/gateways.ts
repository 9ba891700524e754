/** Runs the gateway tools. What they run is checked, and fails, as in a direct call. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { nearestName, permits } from "../../../tools/contract/index.ts";
import { permitsOperation } from "../../../tools/rule-operations.ts";
import {
  GatewayInputError,
  gatewayOf,
  isRead,
  type ListedTool,
  readRunArguments,
  readSearchArguments,
  runReadToolName,
  searchTools,
  searchToolsName,
  type ToolList,
} from "../tool-list/index.ts";
import { type McpCaller, type ToolCall, type ToolResult, visibilityOf } from "./call.ts";
import { createFailureResult, reportRejection, type ToolFailure } from "./failures/index.ts";

type RunListedTool = (tool: ListedTool, caller: McpCaller, call: ToolCall) => Promise<ToolResult>;

/** Errors are results too, so that a model can read them. */
export async function runGateway(
  list: ToolList,
  caller: McpCaller,
  call: ToolCall,
  run: RunListedTool,
): Promise<ToolResult> {
  try {
    if (call.name === searchToolsName) {
      await caller.waitForAccess?.();
      return search(list, caller, call);
    }
    const inner = readRunArguments(call.arguments ?? {});
    const tool = list.find(inner.name);
    if (!tool) {
      await reportRejection(caller, { tool: inner.name, code: "tool_not_found" });
      return createFailureResult(call.name, failUnknown(list, caller, inner.name));
    }
    const isForbidden = call.name === runReadToolName && !isRead(tool) && isPermitted(tool, caller);
    if (isForbidden) {
      await reportRejection(caller, { tool: tool.name, code: "invalid_request" });
      return createFailureResult(tool.name, failWrite(tool));
    }
    return await run(tool, caller, { ...call, ...inner });
  } catch (error) {
    if (error instanceof GatewayInputError) {
      await reportRejection(caller, { tool: call.name, code: "invalid_request" });
      return createFailureResult(call.name, { status: 400, code: "invalid_request", message: error.message });
    }
    throw error;
  }
}

function search(list: ToolList, caller: McpCaller, call: ToolCall): CallToolResult {
  const viewer = visibilityOf(caller);
  const unlisted = new Set(list.unlisted(viewer).map(({ name }) => name));
  return searchTools(list.callable(viewer), {
    ...readSearchArguments(call.arguments ?? {}),
    isListed: ({ name }) => !unlisted.has(name),
  });
}

/** Whether a direct call would get as far as the arguments. */
function isPermitted(tool: ListedTool, { filter, scopes, allowed }: McpCaller): boolean {
  const held = scopes();
  return (
    filter.hiddenBy(tool) === undefined &&
    (!held || permits(held, tool.scope)) &&
    permitsOperation(allowed?.() ?? null, tool.operation)
  );
}

function failWrite(tool: ListedTool): ToolFailure {
  return {
    status: 400,
    code: "tool_writes",
    message: `${tool.name} changes or sends something.`,
    error: { fix: `Call it with ${gatewayOf(tool)}.` },
  };
}

function failUnknown(list: ToolList, caller: McpCaller, name: string): ToolFailure {
  const known = list.callable(visibilityOf(caller)).map((tool) => tool.name);
  const nearest = nearestName(name.toLowerCase(), known);
  return {
    code: "tool_not_found",
    message: `There is no tool named ${name.slice(0, 128)}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    error: { fix: `Find its name with ${searchToolsName}.` },
  };
}
