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
import { type Asked, type Scripted, startUpstream, type Upstream } from "./upstream.ts";

/** What each key may do. */
const keys: Readonly<Record<string, readonly Scope[]>> = {
  sk_live_all: allScopes,
  sk_live_reader: ["contacts:read"],
};
const scopesOf = (key: unknown) => keys[String(key)];

export const contact = { id: "con_1", phone_number: "+14155550123", name: "Ann" };

const answers: Readonly<Record<string, (asked: Asked) => Scripted>> = {
  "GET /v1/whoami": ({ headers }) => ({ body: { data: { scopes: scopesOf(headers["x-api-key"]) } } }),
  "GET /v1/contacts/con_1": () => ({ body: { data: contact } }),
};

function answer(asked: Asked): Scripted {
  return (
    answers[`${asked.method} ${asked.path}`]?.(asked) ?? { body: { data: { id: "msg_1", status: "queued" } } }
  );
}

const nothing = () => undefined;
export const quiet: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The service and the face, there while a file's tests run. Each test finds nothing asked yet. */
export function useFace(): { readonly upstream: Upstream; readonly url: string } {
  const used: { upstream?: Upstream; face?: Face } = {};
  const the = <Part>(part: Part | undefined): Part => {
    if (part === undefined) {
      throw new Error("the face is there only while tests run");
    }
    return part;
  };
  beforeAll(async () => {
    used.upstream = await startUpstream(answer);
    used.face = await serveHttp(used.upstream);
  });
  beforeEach(() => {
    the(used.upstream).asked.length = 0;
  });
  afterEach(() => {
    the(used.upstream).answer = answer;
  });
  afterAll(async () => {
    await used.face?.close();
    await used.upstream?.[Symbol.asyncDispose]();
  });
  return {
    get upstream() {
      return the(used.upstream);
    },
    get url() {
      return the(used.face).url;
    },
  };
}

interface Face {
  readonly url: string;
  close(): Promise<void>;
}

/** One more face over HTTP, with options of its own. */
export async function serveHttp(upstream: Upstream, options: Partial<McpHttpOptions> = {}): Promise<Face> {
  const client = createClient({ baseUrl: upstream.url, backoffMs: 1 });
  const handler = createMcpHttpHandler({
    client,
    version: "0.0.0",
    log: quiet,
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

export const info = { name: "test", version: "0" };

/** The program that serves stdio in front of the service. */
export function program(upstream: Upstream, key: string) {
  return {
    command: process.execPath,
    args: ["--import", "tsx", "test/support/mcp-stdio.ts"],
    env: { PATH: process.env.PATH ?? "", TIDINGS_URL: upstream.url, TIDINGS_KEY: key },
    stderr: "pipe" as const,
  };
}

/** What the tests need of a client, whichever it is. */
export interface Connected {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown>; _meta?: object }): Promise<object>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

async function connectV2(options: object, transport: HttpV2 | StdioV2): Promise<Connected> {
  const client = new ClientV2(info, options);
  await client.connect(transport);
  return client as Connected;
}

async function connectV1(transport: HttpV1 | StdioV1): Promise<Connected> {
  const client = new ClientV1(info);
  await client.connect(transport);
  return client as Connected;
}

const httpOptions = (key: string) => ({ requestInit: { headers: { "x-api-key": key } } });
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

/** A client of the newest revision, over HTTP. */
export function connect(url: string, key = "sk_live_all"): Promise<Connected> {
  return connectV2(pinned, new HttpV2(new URL(url), httpOptions(key)));
}

type Connect = (face: { upstream: Upstream; url: string }, key: string) => Promise<Connected>;

/** Every kind of client there is. */
export const clients: readonly (readonly [string, Connect])[] = [
  ["v2, 2025 handshake, HTTP", ({ url }, key) => connectV2({}, new HttpV2(new URL(url), httpOptions(key)))],
  ["v2, 2026-07-28, HTTP", ({ url }, key) => connect(url, key)],
  ["v1, HTTP", ({ url }, key) => connectV1(new HttpV1(new URL(url), httpOptions(key)))],
  ["v2, 2025 handshake, stdio", ({ upstream }, key) => connectV2({}, new StdioV2(program(upstream, key)))],
  ["v2, 2026-07-28, stdio", ({ upstream }, key) => connectV2(pinned, new StdioV2(program(upstream, key)))],
  ["v1, stdio", ({ upstream }, key) => connectV1(new StdioV1(program(upstream, key)))],
];
