/**
 * Creates the MCP server: the same for stdio and HTTP, and for every revision of the protocol.
 *
 * One is created for each connection (stdio) or request (HTTP), with a few handlers and no state. It is the
 * SDK's low-level server, because the tool list depends on the caller and is built once.
 */
import { type McpRequestContext, Server } from "@modelcontextprotocol/server";
import type { Log } from "../ports/telemetry/log.ts";
import { canComplete, complete } from "./complete.ts";
import { elicitationOf } from "./elicitation.ts";
import { channelInstructions, defaultInstructions, describeList, type ListSummary } from "./instructions.ts";
import { createPrompts, type Prompts } from "./prompts.ts";
import { createResources, type Resources } from "./resources.ts";
import { createSkills, skillsCapability } from "./skills/index.ts";
import {
  createExecuteTool,
  createRunTool,
  defaultResultLimit,
  loadArguments,
  type McpCaller,
  progressReporter,
  type RunTool,
  visibilityOf,
} from "./tool-call/index.ts";
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
  gatewayOf,
  type ToolFilter,
  type ToolList,
  tools,
} from "./tool-list/index.ts";

export interface McpServerOptions {
  readonly version: string;
  readonly log: Log;
  /** The tools that the service has, by name; by default the whole catalogue. */
  readonly availableTools?: ReadonlySet<string>;
  readonly instructions?: string;
  /** Whether the client gets the messages of contacts as notifications. */
  readonly isChannel?: boolean;
  /**
   * Selects the tools that assistants can call, and those that are listed; by default all, and the core ones.
   */
  readonly toolFilter?: ToolFilter;
  /** The maximum length of an answer in characters. */
  readonly resultLimit?: number;
  /** The folder whose files a call may name; only if the caller is on this machine. */
  readonly uploadRoot?: string | undefined;
  /** Whether the server notifies clients of changes of their list. The connection must stay open for that. */
  readonly announcesChanges?: boolean;
  /** Wraps every tool call, for telemetry. */
  readonly instrument?: (runTool: RunTool) => RunTool;
}

export const defaultToolFilter = createToolFilter(tools, defaultToolFilterSettings);

/** How long clients may cache lists, and so miss a change of the key's scopes; calls check them always. */
export const listCacheHints = { ttlMs: 300_000, cacheScope: "private" } as const;

/** @param callerOf returns the caller of a request (HTTP) or of the connection (stdio). */
export function createServerFactory(
  serverOptions: McpServerOptions,
  callerOf: (context: McpRequestContext) => McpCaller,
): (context: McpRequestContext) => Server {
  const { version, log, availableTools, instructions = defaultInstructions, isChannel } = serverOptions;
  const {
    announcesChanges = false,
    uploadRoot,
    resultLimit = defaultResultLimit,
    instrument = (runTool) => runTool,
  } = serverOptions;
  const list = createToolList(tools, { availableTools, isLocal: uploadRoot !== undefined });
  const executeTool = createExecuteTool({ log, uploadRoot });
  const runTool = instrument(createRunTool({ list, executeTool, resultLimit }));
  const skills = createSkills(list);
  const info = { name: "tidings", title: "Tidings", version };
  const hasCompletions = canComplete(list);
  const capabilities = {
    tools: { listChanged: announcesChanges },
    resources: {},
    prompts: {},
    extensions: skillsCapability,
    ...(hasCompletions ? { completions: {} } : {}),
    // Claude Code listens to the notifications of a server that declares it.
    ...(isChannel ? { experimental: { "claude/channel": {} } } : {}),
  };
  const options = {
    capabilities,
    cacheHints: {
      "tools/list": listCacheHints,
      "resources/list": listCacheHints,
      "resources/templates/list": listCacheHints,
      "prompts/list": listCacheHints,
      // The instructions describe the caller's list.
      "server/discover": listCacheHints,
    },
  };

  return (context) => {
    const caller = callerOf(context);
    const about = describeList(summarize(list, caller));
    const texts = [about, isChannel ? channelInstructions : undefined, instructions];
    const known = texts.filter((text) => text !== undefined);
    const server = new Server(info, { ...options, instructions: known.join("\n\n") });
    serveTools(server, context, { caller, list, runTool });
    serveResources(server, caller, createResources({ list, executeTool, resultLimit, skills }));
    skills.serve(server, caller, listCacheHints);
    servePrompts(server, caller, createPrompts(list));
    if (hasCompletions) {
      server.setRequestHandler("completion/complete", ({ params }, { mcpReq }) =>
        complete({ list, executeTool }, caller, params, mcpReq.signal),
      );
    }
    return server;
  };
}

/** What is known of a caller's list before it is requested. */
function summarize(list: ToolList, caller: McpCaller): ListSummary {
  const viewer = visibilityOf(caller);
  const unlisted = list.unlisted(viewer);
  return {
    listed: list.callable(viewer).length - unlisted.length,
    others: [...new Set(unlisted.map(({ toolset }) => toolset))],
    otherCount: unlisted.length,
    runners: [...new Set(unlisted.map(gatewayOf))],
    isEstimate: viewer.scopes === undefined,
  };
}

interface ServedTools {
  readonly caller: McpCaller;
  readonly list: ToolList;
  readonly runTool: RunTool;
}

function serveTools(
  server: Server,
  context: McpRequestContext,
  { caller, list, runTool }: ServedTools,
): void {
  server.setRequestHandler("tools/list", async () => {
    await caller.waitForAccess?.();
    // After the response, because a call usually follows a list.
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
      ...elicitationOf(context, server, mcpReq),
    }),
  );
}

function serveResources(server: Server, caller: McpCaller, resources: Resources): void {
  server.setRequestHandler("resources/list", async () => ({ resources: await resources.list(caller) }));
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
