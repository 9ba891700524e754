/**
 * The HTTP server: finds out whether a request is for the Graph API, a file or the controls,
 * and writes the answer.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { GraphError, newTraceId } from "../contract/graph-error.ts";
import { runControl } from "../control/routes.ts";
import { mediaPath } from "../graph/describe.ts";
import { downloadMedia, maxUploadBytes } from "../graph/media.ts";
import { runOperation } from "../graph/routes.ts";
import type { World } from "../world.ts";
import type { Answer, BodyAnswer } from "./answer.ts";
import { readBody, readJson } from "./body.ts";
import { requireProof, requireToken } from "./token.ts";

export function createHttpServer(world: World): Server {
  return createServer((request, response) => {
    respond(world, request, response).catch((error: unknown) => {
      // Its answer can't be written, for example with the type that was declared for a file.
      write(response, toAnswer(world, error), versionOf(request.url));
    });
  });
}

/** Web pages must not use the emulator of the developer who visits them. Only browsers send this header. */
function requireNoBrowser({ headers }: IncomingMessage): void {
  if (headers.origin !== undefined) {
    throw new GraphError(10, "Requests of web pages are refused", { http: 403 });
  }
}

async function respond(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await run(world, request).catch((error: unknown) => toAnswer(world, error));
  if ("lost" in answer) {
    // An unanswered request stays open until its sender gives up.
    if (answer.lost === "closed") {
      request.socket.destroy();
    }
    return;
  }
  write(response, answer, versionOf(request.url));
}

async function run(world: World, request: IncomingMessage): Promise<Answer> {
  requireNoBrowser(request);
  const url = new URL(request.url ?? "/", "http://emulator");
  if (url.pathname === "/emulator" || url.pathname.startsWith("/emulator/")) {
    return runControl(world, request, url);
  }
  return runGraph(world, request, url);
}

async function runGraph(world: World, request: IncomingMessage, url: URL): Promise<Answer> {
  const { pathname, searchParams: query } = url;
  const [version, ...path] = pathname.split("/").slice(1).map(decodePart);
  const isDownload = pathname === mediaPath;
  if (!isDownload && !/^v\d+\.\d+$/.test(version ?? "")) {
    throw new GraphError(2500, undefined, { title: `Unknown path components: ${pathname}`, http: 400 });
  }
  const token = requireToken(world, request, query);
  if (isDownload) {
    return downloadMedia(world, query, request.headers);
  }
  requireProof(world, token, query);
  return runOperation({
    method: request.method ?? "GET",
    path: path.filter((part) => part !== ""),
    request: {
      world,
      token,
      query,
      version: version ?? "",
      headers: request.headers,
      readJson: () => readJson(request),
      readBytes: () => readBody(request, maxUploadBytes),
    },
  });
}

/**
 * A throttled client learns when to try again: from Retry-After in seconds, and from the
 * other header in minutes.
 */
function toAnswer({ faults, store }: World, error: unknown): BodyAnswer {
  if (!(error instanceof GraphError)) {
    console.error(error);
    return { status: 500, body: new GraphError(131000).body() };
  }
  if (!error.isThrottle) {
    return { status: error.status, body: error.body() };
  }
  const usage = { type: "messages", call_count: 100, estimated_time_to_regain_access: 1 };
  return {
    status: faults.settings.throttle_status,
    body: error.body(),
    headers: {
      "retry-after": "1",
      "x-business-use-case-usage": JSON.stringify({ [store.nodes.keys().next().value ?? "0"]: [usage] }),
    },
  };
}

function write(response: ServerResponse, { status, body, headers = {} }: BodyAnswer, version: string): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const trace = randomBytes(12).toString("base64url");
  response.writeHead(status, {
    "content-type": "application/json; charset=UTF-8",
    "content-length": bytes.length,
    "cache-control": "private, no-cache, no-store, must-revalidate",
    ...(version === "" ? {} : { "facebook-api-version": version }),
    "x-fb-request-id": newTraceId(),
    "x-fb-trace-id": trace,
    "x-fb-rev": "1",
    ...(status === 401 ? { "www-authenticate": 'OAuth "Facebook Platform" "invalid_token"' } : {}),
    ...headers,
  });
  response.end(bytes);
}

/** A part that is not encoded correctly is no id either. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function versionOf(url = ""): string {
  return /^\/(v\d+\.\d+)\//.exec(url)?.[1] ?? "";
}
