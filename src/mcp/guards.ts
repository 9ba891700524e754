/**
 * Checks host and origin of MCP requests over HTTP, and sends errors that occur before the protocol begins.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { localhostAllowedHostnames, validateHostHeader } from "@modelcontextprotocol/server";
import type { Failure } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";

export interface HostPolicy {
  /** Host names without a port, in addition to the loopback names. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages, such as `https://app.example.com`, in addition to the loopback origins. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * Rejects requests that a browser was tricked into sending (DNS rebinding).
 * @throws Failure `host_not_allowed`.
 */
export function createHostGuard({ allowedHosts = [], allowedOrigins = [] }: HostPolicy) {
  const loopback = localhostAllowedHostnames();
  const hosts = [...loopback, ...allowedHosts];
  return ({ host, origin }: IncomingHttpHeaders): void => {
    // The SDK ignores a user name in the header here, and fails at it later.
    if (!validateHostHeader(host, hosts).ok || host?.includes("@")) {
      throw fail("host_not_allowed", { header: "Host", setting: "TIDINGS_ALLOWED_HOSTS" });
    }
    const page = origin === undefined ? undefined : readOrigin(origin);
    const isAllowed = !page || loopback.includes(page.hostname) || allowedOrigins.includes(page.origin);
    if (!isAllowed) {
      throw fail("host_not_allowed", { header: "Origin", setting: "TIDINGS_ALLOWED_ORIGINS" });
    }
  };
}

/** Sandboxed pages send `null`, which matches no allowed origin. */
function readOrigin(origin: string): { hostname: string; origin: string } {
  return URL.canParse(origin) ? new URL(origin) : { hostname: "", origin };
}

const exposedHeaders = [
  "www-authenticate",
  "retry-after",
  "x-request-id",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
];

/**
 * Adds the CORS headers, with which a browser lets the web page read the response.
 * @returns whether the request was a preflight request, which is answered now.
 */
export function handleCors(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin !== undefined) {
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", exposedHeaders.join(", "));
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

/** Sends an error in the envelope that REST uses too. */
export function writeFailure(response: ServerResponse, failure: Failure): void {
  const id = response.getHeader("x-request-id");
  const { status, retryAfter } = failure;
  if (status === 401) {
    response.setHeader("www-authenticate", 'Bearer realm="tidings"');
  }
  if (status === 413) {
    // The rest of the body will not be read.
    response.setHeader("connection", "close");
  }
  if (retryAfter !== undefined) {
    response.setHeader("retry-after", String(retryAfter));
  }
  const body = JSON.stringify(failure.body(typeof id === "string" ? id : undefined));
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
