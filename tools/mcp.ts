/** The tool list and tool calls over REST. */
import { z } from "zod";
import { all, type ErrorEntry, errorEntry, one, openObject, operation, yes } from "./contract/index.ts";

/** More arguments than any tool has; the schema of the tool limits each argument. */
const maxArguments = 100;
const toolArguments = openObject(
  (value) => Object.keys(Object(value)).length <= maxArguments,
  `At most ${maxArguments} arguments.`,
);

export const mcp = {
  list_mcp_tools: operation({
    method: "GET",
    path: "/v1/mcp/tools",
    scope: null,
    title: "List MCP tools",
    description:
      "List the tools that this credential can call and that the operator has not disabled, each with the JSON Schema of its input.",
    input: z.object({}),
    output: all(
      z.object({
        name: z.string(),
        description: z.string(),
        input_schema: z.record(z.string(), z.unknown()),
      }),
    ),
    effect: "delegated",
    tools: {},
  }),

  call_mcp_tool: operation({
    method: "POST",
    path: "/v1/mcp/tools/call",
    scope: null,
    failures: [402, 404],
    title: "Call MCP tool",
    description: "Call a tool by name. data in the response is the data of the tool's own operation.",
    input: z.object({
      name: z.string().min(1).max(128).describe("Tool name, from GET /v1/mcp/tools"),
      arguments: toolArguments.default({}).describe("Arguments, as in the tool's input_schema"),
    }),
    output: z.object({ data: z.unknown(), meta: z.unknown().optional() }),
    hints: {
      destructive: yes("The tool that it calls may be destructive."),
      openWorld: yes("The tool that it calls may reach other systems."),
    },
    effect: "delegated",
    tools: {},
  }),

  report_rejected_call: operation({
    method: "POST",
    path: "/v1/mcp/rejected-calls",
    scope: null,
    title: "Report rejected call",
    description:
      "Record a call of a tool that an MCP server rejected before it reached the service. The servers of this service do so by themselves.",
    input: z.object({
      tool: z.string().min(1).max(128).describe("Tool name, as it was called"),
      code: z.string().min(1).max(64).describe("Code of the error, like insufficient_scope"),
    }),
    /** False: enough calls of the credential were recorded in this minute. */
    output: one(z.object({ recorded: z.boolean() })),
    effect: "read",
    tools: {},
  }),
};

/** How many rejected calls of a credential are recorded in a minute, in each process. */
export const maxRejectionsPerMinute = 30;

export const toolErrors = {
  tool_not_found: errorEntry(
    "not_found",
    404,
    "There is no tool named {value}.",
    "Find the name with search_tools, over REST with GET /v1/mcp/tools.",
  ),
  tool_hidden: errorEntry(
    "permission",
    403,
    "{setting} disables the tool {value}.",
    "Use another tool, or ask the operator of this service to change {setting}.",
  ),
} as const satisfies Record<string, ErrorEntry>;
