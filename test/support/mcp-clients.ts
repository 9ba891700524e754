/** The MCP face in front of a scripted service, and the clients that meet it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createMcpHttpHandler, type McpHttpOptions } from "../../src/mcp/http.ts";
import type { Log } from "../../src/ports/log.ts";
import { allScopes, type Scope } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import {
  type RecordedRequest,
  type ScriptedResponse,
  startUpstream,
  type Upstream,
} from "./scripted-service.ts";

/** What each key may do. */
const keys: Readonly<Record<string, readonly Scope[]>> = {
  sk_live_all: allScopes,
  sk_live_reader: ["contacts:read"],
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

const nothing = () => undefined;
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The service and the face, there while a file's tests run. Each test finds nothing asked yet. */
export function useMcpServer(): { readonly upstream: Upstream; readonly url: string } {
  const running: { upstream?: Upstream; face?: McpEndpoint } = {};
  const require = <Part>(part: Part | undefined): Part => {
    if (part === undefined) {
      throw new Error("the face is there only while tests run");
    }
    return part;
  };
  beforeAll(async () => {
    running.upstream = await startUpstream(respond);
    running.face = await serveMcpHttp(running.upstream);
  });
  beforeEach(() => {
    require(running.upstream).requests.length = 0;
  });
  afterEach(() => {
    require(running.upstream).respond = respond;
  });
  afterAll(async () => {
    await running.face?.close();
    await running.upstream?.[Symbol.asyncDispose]();
  });
  return {
    get upstream() {
      return require(running.upstream);
    },
    get url() {
      return require(running.face).url;
    },
  };
}

interface McpEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/** One more face over HTTP, with options of its own. */
export async function serveMcpHttp(
  upstream: Upstream,
  options: Partial<McpHttpOptions> = {},
): Promise<McpEndpoint> {
  const client = createClient({ baseUrl: upstream.url, backoffMs: 1 });
  const handler = createMcpHttpHandler({
    client,
    version: "0.0.0",
    log: quietLog,
    async authenticate(key) {
      const scopes = scopesOf(key);
      if (!scopes) {
        throw fail("credential_invalid");
      }
      return { scopes: new Set(scopes) };
    },
    ...options,
  });
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP port, as just asked for
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await client.close();
    },
  };
}

export const clientInfo = { name: "test", version: "0" };

/** The program that serves stdio in front of the service. */
export function stdioProgram(upstream: Upstream, key: string) {
  return {
    command: process.execPath,
    args: ["--import", "tsx", "test/support/mcp-stdio.ts"],
    env: { PATH: process.env.PATH ?? "", TIDINGS_URL: upstream.url, TIDINGS_KEY: key },
    stderr: "pipe" as const,
  };
}

/** What the tests need of a client, whichever it is. */
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

/** A client of the newest revision, over HTTP. */
export function connectClient(url: string, key = "sk_live_all"): Promise<ConnectedClient> {
  return connectV2(pinned, new HttpV2(new URL(url), httpOptions(key)));
}

type ConnectFunction = (
  endpoint: { upstream: Upstream; url: string },
  key: string,
) => Promise<ConnectedClient>;

/** Every kind of client there is. */
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
