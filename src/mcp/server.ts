/**
 * Makes the MCP server: the same for stdio and HTTP, for every revision of the protocol.
 *
 * One is made for each connection (stdio) or request (HTTP), with a few handlers and no state of its own.
 * It is the SDK's low-level server, because the list depends on who asks and is made once.
 */
import {
  type McpRequestContext,
  type McpServerFactory,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Client } from "../client/index.ts";
import type { Log } from "../ports/log.ts";
import { canComplete, complete } from "./complete.ts";
import { defaultInstructions, searchInstructions } from "./instructions.ts";
import { createPrompts, type Prompts } from "./prompts.ts";
import { createResources, type Resources } from "./resources.ts";
import {
  createExecuteTool,
  createRunTool,
  defaultResultLimit,
  loadArguments,
  type McpCaller,
  type ReportProgress,
  type RunTool,
  visibilityOf,
} from "./tool-call/index.ts";
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
  type ToolFilter,
  type ToolList,
  tools,
} from "./tool-list/index.ts";

export interface McpServerOptions {
  /** Calls the service whose tools these are. */
  readonly client: Client;
  readonly version: string;
  readonly log: Log;
  /** The tools that the service has, by name; the whole catalogue when left out. */
  readonly availableTools?: ReadonlySet<string>;
  readonly instructions?: string;
  /** What the operator keeps from assistants; by default the extended tools. */
  readonly toolFilter?: ToolFilter;
  /** The most characters that an answer may have. */
  readonly resultLimit?: number;
  /** The folder whose files may be named in a call; only where the caller's machine is this one. */
  readonly uploadRoot?: string | undefined;
  /** Put around every tool call, by whoever watches them. */
  readonly instrument?: (runTool: RunTool) => RunTool;
}

/** The narrowing of a server that was given none. */
export const defaultToolFilter = createToolFilter(tools, defaultToolFilterSettings);

/** A list may be kept for as long as a change of a key's scopes may go unnoticed; calls notice at once. */
const listCacheHints = { ttlMs: 300_000, cacheScope: "private" } as const;

/** @param callerOf who calls, by the context of a request (HTTP) or of the connection (stdio). */
export function createServerFactory(
  parts: McpServerOptions,
  callerOf: (context: McpRequestContext) => McpCaller,
): McpServerFactory {
  const { client, version, log, availableTools, instructions = defaultInstructions } = parts;
  const {
    uploadRoot,
    resultLimit = defaultResultLimit,
    instrument = (uninstrumented) => uninstrumented,
  } = parts;
  const list = createToolList(tools, { availableTools, isLocal: uploadRoot !== undefined });
  const executeTool = createExecuteTool({ client, list, log, uploadRoot });
  const runTool = instrument(createRunTool({ client, list, log, resultLimit }, executeTool));
  const info = { name: "tidings", title: "Tidings", version };
  const completes = canComplete(list);
  const completions = completes ? { completions: {} } : {};
  const options = {
    capabilities: { tools: { listChanged: false }, resources: {}, prompts: {}, ...completions },
    instructions,
    cacheHints: {
      "tools/list": listCacheHints,
      "resources/list": listCacheHints,
      "resources/templates/list": listCacheHints,
      "prompts/list": listCacheHints,
      "server/discover": { ...listCacheHints, cacheScope: "public" as const },
    },
  };
  const searchOptions = { ...options, instructions: `${searchInstructions}\n\n${instructions}` };

  return (context) => {
    const caller = callerOf(context);
    const server = new Server(info, caller.filter.isSearch ? searchOptions : options);
    serveTools(server, caller, list, runTool);
    serveResources(server, caller, createResources({ list, executeTool, resultLimit }));
    servePrompts(server, caller, createPrompts(list));
    if (completes) {
      server.setRequestHandler("completion/complete", ({ params }, { mcpReq }) =>
        complete({ list, executeTool }, caller, params, mcpReq.signal),
      );
    }
    return server;
  };
}

function serveTools(server: Server, caller: McpCaller, list: ToolList, runTool: RunTool): void {
  server.setRequestHandler("tools/list", async () => {
    await caller.waitForAccess?.();
    // Behind the answer: a list is mostly followed by a call.
    setImmediate(() => loadArguments().catch(() => undefined));
    return { tools: list.list(visibilityOf(caller)) };
  });
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    runTool(caller, {
      name: params.name,
      arguments: params.arguments,
      meta: mcpReq._meta,
      signal: mcpReq.signal,
      reportProgress: progressReporter(mcpReq),
    }),
  );
}

/** Sends progress under the request's token, if it has one. */
function progressReporter({ _meta, notify }: ServerContext["mcpReq"]): ReportProgress | undefined {
  const progressToken = _meta?.progressToken;
  return progressToken === undefined
    ? undefined
    : (progress) => notify({ method: "notifications/progress", params: { progressToken, ...progress } });
}

function serveResources(server: Server, caller: McpCaller, resources: Resources): void {
  server.setRequestHandler("resources/list", () => ({ resources: resources.list() }));
  server.setRequestHandler("resources/templates/list", async () => {
    await caller.waitForAccess?.();
    return { resourceTemplates: resources.templates(caller) };
  });
  server.setRequestHandler("resources/read", ({ params }, { mcpReq }) =>
    resources.read(caller, params.uri, mcpReq.signal),
  );
}

function servePrompts(server: Server, caller: McpCaller, prompts: Prompts): void {
  server.setRequestHandler("prompts/list", async () => {
    await caller.waitForAccess?.();
    return { prompts: prompts.list(caller) };
  });
  server.setRequestHandler("prompts/get", ({ params }) => prompts.get(caller, params.name, params.arguments));
}
