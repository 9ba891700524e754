/** Builds MCP requests over HTTP like a client. */
import type { Dispatcher } from "undici";

/** The `_meta` of a request in the newest revision. */
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
