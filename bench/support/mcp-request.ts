/** An MCP request over HTTP as a client sends it. */
import type { Dispatcher } from "undici";

/** What a request of the newest revision carries in its `_meta`. */
export const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

export function mcpRequest(
  key: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Dispatcher.RequestOptions {
  return {
    method: "POST",
    path: "/mcp",
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body,
  };
}
