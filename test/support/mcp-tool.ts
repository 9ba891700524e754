/** Makes one tool call over MCP without a client: a single request whose response is discarded. */
import type { TestApp } from "./app.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

export async function callTool(
  app: TestApp,
  name: string,
  args: Readonly<Record<string, unknown>>,
  extraMeta: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const params = { name, arguments: args, _meta: { ...meta, ...extraMeta } };
  const response = await app.fetch("/mcp", {
    method: "POST",
    json: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
  });
  await response.text();
}
