/** Cancellation: a read that nobody waits for any more ends at the service too; a write, once begun, does not. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createClient } from "../src/client/index.ts";
import { createMcpHttpHandler } from "../src/mcp/http.ts";
import { allScopes } from "../tools/contract/index.ts";
import { quietLog } from "./support/mcp-clients.ts";

type Call = { readonly name: string; readonly arguments: Record<string, unknown> };
type Begin = (url: URL, call: Call, signal: AbortSignal) => Promise<unknown>;

const key = "sk_live_x";

/**
 * How a call is begun in each era, so that the signal ends it. A client of 2025 cancels by a message of its
 * own, which on stateless HTTP nobody can tell whose call it means: there it is the connection that counts.
 */
const eras: Readonly<Record<string, Begin>> = {
  async "2026-07-28"(url, call, signal) {
    const client = new Client(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client.callTool(call, { signal });
  },
  "2025-11-25": (url, params, signal) =>
    fetch(url, {
      method: "POST",
      headers: {
        "x-api-key": key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      signal,
    }).then((answer) => answer.text()),
};

test.each(Object.entries(eras))("in the era %s", async (_, begin) => {
  /** The service's requests, none of which is ever answered. */
  const hanging: ServerResponse[] = [];
  await using service = await listen((response) => void hanging.push(response));
  const client = createClient({ baseUrl: service.url });
  const authenticate = async () => ({ scopes: new Set(allScopes) });
  const face = createMcpHttpHandler({ client, authenticate, version: "0.0.0", log: quietLog });
  await using door = await listen((response, request) => void face(request, response));

  const cancelled = async (call: Call): Promise<ServerResponse | undefined> => {
    const giveUp = new AbortController();
    const before = hanging.length;
    const calling = begin(new URL("/mcp", door.url), call, giveUp.signal);
    calling.catch(() => undefined);
    await expect.poll(() => hanging.length).toBe(before + 1);
    giveUp.abort();
    await expect(calling).rejects.toThrow();
    return hanging[before];
  };

  const read = { name: "get_contact", arguments: { id: "con_1" } };
  const first = await cancelled(read);
  await expect.poll(() => first?.destroyed).toBe(true);
  const write = await cancelled({
    name: "send_message",
    arguments: { to: "+14155550123", body: "on its way" },
  });
  // When a later read has ended, the write would have ended too.
  const second = await cancelled(read);
  await expect.poll(() => second?.destroyed).toBe(true);
  expect(write?.destroyed).toBe(false);
  await client.close();
});

type Handle = (response: ServerResponse, request: IncomingMessage) => void;

async function listen(handle: Handle) {
  const server = createServer((request, response) => handle(response, request)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP port, as just asked for
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
