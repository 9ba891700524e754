/** The service's own list of tools, and the call of one over REST. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, one, operation } from "./contract/index.ts";

export const mcp = {
  list_mcp_tools: operation({
    method: "GET",
    path: "/v1/mcp/tools",
    scope: null,
    title: "List MCP tools",
    description: "List the tools that this credential may call, each with the JSON Schema of its input.",
    input: z.object({}),
    output: one(
      z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          input_schema: z.record(z.string(), z.unknown()),
        }),
      ),
    ),
    effect: "delegated",
    tools: {},
  }),

  call_mcp_tool: operation({
    method: "POST",
    path: "/v1/mcp/tools/call",
    scope: null,
    title: "Call MCP tool",
    description: "Call a tool by name. The answer's data is what the tool's own operation answers as data.",
    input: z.object({
      name: z.string().min(1).max(128).describe("A name from GET /v1/mcp/tools"),
      arguments: z
        .record(z.string(), z.unknown())
        .default({})
        .describe("Arguments as the tool's input_schema describes them"),
    }),
    output: z.object({ data: z.unknown(), meta: z.unknown().optional() }),
    hints: { destructive: true, openWorld: true },
    effect: "delegated",
    tools: {},
  }),
};

export const toolErrors = {
  tool_not_found: errorEntry(
    "not_found",
    404,
    "There is no tool named {value}.",
    "GET /v1/mcp/tools lists the tools that this credential may call.",
  ),
} as const satisfies Record<string, ErrorEntry>;
