/** Cancellation: a cancelled read is cancelled at the service too; a write, once sent, is not. */
import type { ServerResponse } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createHttpTransport } from "../src/client/index.ts";
import { createMcpHttpHandler } from "../src/mcp/http.ts";
import { allScopes } from "../tools/contract/index.ts";
import { silentLog } from "./support/app.ts";
import { postRequest } from "./support/mcp-clients.ts";
import { startReceiver } from "./support/receiver.ts";

type Call = { readonly name: string; readonly arguments: Record<string, unknown> };
type StartCall = (url: URL, call: Call, signal: AbortSignal) => Promise<unknown>;

const key = "sk_live_x";

/**
 * Starts a call in each protocol revision so that the signal cancels it. A client of 2025 cancels
 * with a separate message, which on stateless HTTP can't be related to its call: there, closing
 * the connection cancels.
 */
const revisions: Readonly<Record<string, StartCall>> = {
  async "2026-07-28"(url, call, signal) {
    const client = new Client(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client.callTool(call, { signal });
  },
  "2025-11-25": (url, params, signal) => postRequest(url, key, { method: "tools/call", params }, signal),
};

test.each(Object.entries(revisions))(
  "in revision %s a cancelled read ends at the service, and a write does not",
  async (_, startCall) => {
    /** The service's requests, which it never answers. */
    const hanging: ServerResponse[] = [];
    await using service = await startReceiver((_, response) => hanging.push(response));
    const transport = createHttpTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
    const handler = createMcpHttpHandler({ version: "0.0.0", log: silentLog });
    const identity = { transport, credentialId: "key_1", scopes: new Set(allScopes), count: () => undefined };
    const admission = { maxMessages: 100, identify: async () => identity };
    await using endpoint = await startReceiver((request, response) => handler(request, response, admission));
    const url = new URL(`http://127.0.0.1:${endpoint.port}/mcp`);

    const cancel = async (call: Call): Promise<ServerResponse | undefined> => {
      const controller = new AbortController();
      const before = hanging.length;
      const calling = startCall(url, call, controller.signal);
      calling.catch(() => undefined);
      await expect.poll(() => hanging.length).toBe(before + 1);
      controller.abort();
      await expect(calling).rejects.toThrow();
      return hanging[before];
    };

    const read = { name: "get_contact", arguments: { id: "con_1" } };
    const first = await cancel(read);
    await expect.poll(() => first?.destroyed).toBe(true);
    const write = await cancel({
      name: "send_message",
      arguments: { to: "+14155550123", body: "on its way" },
    });
    // When a later read has ended, the write would have ended too.
    const second = await cancel(read);
    await expect.poll(() => second?.destroyed).toBe(true);
    expect(write?.destroyed).toBe(false);
    await transport.close?.();
  },
);
