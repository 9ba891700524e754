/** MCP on stdio within the process of the test. */
import { PassThrough } from "node:stream";
import { createClient } from "../../src/client/index.ts";
import { type StdioOptions, serveOverStdio } from "../../src/mcp/stdio/index.ts";
import { silentLog } from "./app.ts";
import { clientInfo } from "./mcp-clients.ts";

export const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
};

export const lines = (...requests: object[]) =>
  requests.map((request) => `${JSON.stringify(request)}\n`).join("");

/** Serves stdio in this process; by default the key's scopes can't be discovered. */
export function serveStdio(baseUrl: string, options: Partial<StdioOptions> = {}) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const { ended } = serveOverStdio({
    client: createClient({ baseUrl, key: "sk_live_all" }),
    version: "0.0.0",
    log: silentLog,
    discoverAccess: async () => undefined,
    stdin,
    stdout,
    ...options,
  });
  return { stdin, stdout, ended };
}
