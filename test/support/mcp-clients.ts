/** The MCP server in front of a scripted service, and every kind of client that connects to it. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, afterEach, beforeAll, beforeEach, inject } from "vitest";
import { createHttpTransport } from "../../src/client/index.ts";
import {
  createMcpHttpHandler,
  type McpAdmission,
  type McpHttpOptions,
  type McpIdentity,
} from "../../src/mcp/http.ts";
import { allScopes, readCredential, type Scope } from "../../tools/contract/index.ts";
import { fail, failCredential } from "../../tools/errors.ts";
import { silentLog } from "./app.ts";
import { programPath } from "./process.ts";
import { listenerOf } from "./receiver.ts";
import {
  type RecordedRequest,
  type ScriptedResponse,
  startUpstream,
  type Upstream,
} from "./scripted-service.ts";

/** The scopes of each key. */
const keys: Readonly<Record<string, readonly Scope[]>> = {
  sk_live_all: allScopes,
  sk_live_reader: ["contacts:read"],
  sk_live_planner: ["broadcasts:read", "broadcasts:create", "contacts:read", "templates:read"],
};
const scopesOf = (key: unknown) => keys[String(key)];

export const scriptedContact = { id: "con_1", phone_number: "+14155550123", name: "Ann" };

const scriptedResponses: Readonly<Record<string, (received: RecordedRequest) => ScriptedResponse>> = {
  "GET /v1/whoami": ({ headers }) => ({ body: { data: { scopes: scopesOf(headers["x-api-key"]) } } }),
  "GET /v1/contacts/con_1": () => ({ body: { data: scriptedContact } }),
};

function respond(received: RecordedRequest): ScriptedResponse {
  return (
    scriptedResponses[`${received.method} ${received.path}`]?.(received) ?? {
      body: { data: { id: "msg_1", status: "queued" } },
    }
  );
}

/**
 * Runs the scripted service and the MCP server during a file's tests. Each test starts with
 * no recorded requests.
 */
export function useMcpServer(): { readonly upstream: Upstream; readonly url: string } {
  const running: { upstream?: Upstream; endpoint?: McpEndpoint } = {};
  const requireRunning = <Part>(part: Part | undefined): Part => {
    if (part === undefined) {
      throw new Error("the MCP server runs only during tests");
    }
    return part;
  };
  beforeAll(async () => {
    running.upstream = await startUpstream(respond);
    running.endpoint = await serveMcpHttp(running.upstream);
  });
  beforeEach(() => {
    requireRunning(running.upstream).requests.length = 0;
  });
  afterEach(() => {
    requireRunning(running.upstream).respond = respond;
  });
  afterAll(async () => {
    await running.endpoint?.close();
    await running.upstream?.[Symbol.asyncDispose]();
  });
  return {
    get upstream() {
      return requireRunning(running.upstream);
    },
    get url() {
      return requireRunning(running.endpoint).url;
    },
  };
}

interface McpEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/** An admission whose callers all use the transport of the server. */
interface TestAdmission extends Pick<McpAdmission, "maxMessages"> {
  identify(): Promise<Omit<McpIdentity, "transport">>;
}

/** Admits the keys above, without a rate limit. */
function admitAll({ headers }: IncomingMessage): TestAdmission {
  return {
    maxMessages: 100,
    async identify() {
      const credentialId = readCredential(headers);
      if (credentialId === undefined) {
        throw failCredential(headers);
      }
      const scopes = scopesOf(credentialId);
      if (!scopes) {
        throw fail("credential_invalid");
      }
      return { credentialId, scopes: new Set(scopes), count: () => undefined };
    },
  };
}

/** Starts an MCP server over HTTP with its own options. */
export async function serveMcpHttp(
  upstream: Pick<Upstream, "url">,
  options: Partial<McpHttpOptions> = {},
  admit: (request: IncomingMessage) => TestAdmission = admitAll,
): Promise<McpEndpoint> {
  const transport = createHttpTransport({ baseUrl: upstream.url });
  const handler = createMcpHttpHandler({
    version: "0.0.0",
    log: silentLog,
    ...options,
  });
  const listener = listenerOf((request, response) => {
    const { maxMessages, identify } = admit(request);
    return handler(request, response, {
      maxMessages,
      identify: async () => ({ ...(await identify()), transport }),
    });
  });
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await transport.close?.();
    },
  };
}

export const clientInfo = { name: "test", version: "0" };

/** Sends one JSON-RPC request of revision 2025-11-25 over HTTP without a client; resolves with the body. */
export async function postRequest(
  url: string | URL,
  key: string,
  request: { method: string; params: object },
  signal?: AbortSignal,
): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...request }),
    ...(signal ? { signal } : {}),
  });
  return response.text();
}

/** The command that serves MCP on stdio in front of the service. */
export function stdioProgram(upstream: Pick<Upstream, "url">, key: string) {
  return {
    command: process.execPath,
    args: [programPath, "mcp"],
    env: {
      PATH: process.env.PATH ?? "",
      // A home of its own: what the program remembers for its next start must not reach another test.
      HOME: join(inject("folder"), "homes", randomUUID()),
      TIDINGS_BASE_URL: upstream.url,
      TIDINGS_API_KEY: key,
    },
    stderr: "pipe" as const,
  };
}

/** The methods that the tests use, common to all clients. */
export interface ConnectedClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown>; _meta?: object }): Promise<object>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

async function connectV2(options: object, transport: HttpV2 | StdioV2): Promise<ConnectedClient> {
  const client = new ClientV2(clientInfo, options);
  await client.connect(transport);
  return client as ConnectedClient;
}

async function connectV1(transport: HttpV1 | StdioV1): Promise<ConnectedClient> {
  const client = new ClientV1(clientInfo);
  await client.connect(transport);
  return client as ConnectedClient;
}

const httpOptions = (key: string) => ({ requestInit: { headers: { "x-api-key": key } } });
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

/** Connects a client of the newest protocol revision over HTTP. */
export function connectClient(url: string, key = "sk_live_all"): Promise<ConnectedClient> {
  return connectV2(pinned, new HttpV2(new URL(url), httpOptions(key)));
}

type ConnectFunction = (
  endpoint: { upstream: Upstream; url: string },
  key: string,
) => Promise<ConnectedClient>;

/** Every combination of client version, protocol revision and transport. */
export const clientKinds: readonly (readonly [string, ConnectFunction])[] = [
  ["v2, 2025 handshake, HTTP", ({ url }, key) => connectV2({}, new HttpV2(new URL(url), httpOptions(key)))],
  ["v2, 2026-07-28, HTTP", ({ url }, key) => connectClient(url, key)],
  ["v1, HTTP", ({ url }, key) => connectV1(new HttpV1(new URL(url), httpOptions(key)))],
  [
    "v2, 2025 handshake, stdio",
    ({ upstream }, key) => connectV2({}, new StdioV2(stdioProgram(upstream, key))),
  ],
  [
    "v2, 2026-07-28, stdio",
    ({ upstream }, key) => connectV2(pinned, new StdioV2(stdioProgram(upstream, key))),
  ],
  ["v1, stdio", ({ upstream }, key) => connectV1(new StdioV1(stdioProgram(upstream, key)))],
];
