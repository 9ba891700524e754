/** Checks the host and origin of an MCP request over HTTP, and answers what is refused before the protocol begins. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { localhostAllowedHostnames, validateHostHeader } from "@modelcontextprotocol/server";
import type { Failure } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";

export interface Allowed {
  /** Host names without a port, beside the loopback ones. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages, such as `https://app.example.com`, beside the loopback ones. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * Refuses what a browser was tricked into sending (DNS rebinding).
 * @throws Failure `host_not_allowed`.
 */
export function createHostGuard({ allowedHosts = [], allowedOrigins = [] }: Allowed) {
  const loopback = localhostAllowedHostnames();
  const hosts = [...loopback, ...allowedHosts];
  return ({ host, origin }: IncomingHttpHeaders): void => {
    if (!validateHostHeader(host, hosts).ok) {
      throw fail("host_not_allowed", { header: "Host", setting: "TIDINGS_ALLOWED_HOSTS" });
    }
    const page = origin === undefined ? undefined : readOrigin(origin);
    const isAllowed = !page || loopback.includes(page.hostname) || allowedOrigins.includes(page.origin);
    if (!isAllowed) {
      throw fail("host_not_allowed", { header: "Origin", setting: "TIDINGS_ALLOWED_ORIGINS" });
    }
  };
}

/** `null`, which sandboxed pages send, has no host and is nobody's. */
function readOrigin(origin: string): { hostname: string; origin: string } {
  return URL.canParse(origin) ? new URL(origin) : { hostname: "", origin };
}

/**
 * Lets an admitted web page read the answer; without this a browser would not show it.
 * @returns whether the request was only the browser's question beforehand, which is answered now.
 */
export function answerBrowser(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin !== undefined) {
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", "www-authenticate, retry-after, x-request-id");
    response.setHeader("vary", "origin");
  }
  if (request.method !== "OPTIONS") {
    return false;
  }
  response.setHeader("access-control-allow-methods", "POST");
  response.setHeader(
    "access-control-allow-headers",
    request.headers["access-control-request-headers"] ?? "content-type",
  );
  response.setHeader("access-control-max-age", "600");
  response.writeHead(204).end();
  return true;
}

/** Answers what is not let in, in the envelope of every face. */
export function refuse(response: ServerResponse, failure: Failure): void {
  const id = response.getHeader("x-request-id");
  const { status, detail } = failure;
  if (status === 401) {
    response.setHeader("www-authenticate", 'Bearer realm="tidings"');
  }
  if (status === 413) {
    // The rest of the body is still on its way, and nobody will read it.
    response.setHeader("connection", "close");
  }
  if (detail.retry_after !== undefined) {
    response.setHeader("retry-after", String(detail.retry_after));
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(failure.body(typeof id === "string" ? id : undefined)));
}
