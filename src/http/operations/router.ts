/** Derives the routes from the catalogue; nothing here names an operation. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { coerceFields, type Operation } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";
import type { Clock } from "../ports/clock.ts";
import { createLoginLimit, type LoginLimit } from "./admission/index.ts";
import { readForm, registerMultipart } from "./multipart.ts";

export interface RouterOptions {
  readonly platform: Platform;
  readonly operations: Readonly<Record<string, Operation>>;
  /** The largest body of a request with a credential, in bytes. */
  readonly bodyLimit: number;
  readonly now: Clock;
}

export function addOperations(app: FastifyInstance, options: RouterOptions): void {
  const { platform, operations, bodyLimit, now } = options;
  const shared = { platform, bodyLimit, loginLimit: createLoginLimit(now) };
  const methods = new Map<string, HTTPMethods[]>();
  const multipartRoutes: Route[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    for (const { path } of [operation, ...operation.also]) {
      methods.set(path, [...(methods.get(path) ?? []), operation.method]);
    }
    if (operation.encoding === "multipart") {
      multipartRoutes.push({ ...shared, name, operation });
    } else {
      addOperation(app, { ...shared, name, operation });
    }
  }
  // In a scope of their own: the multipart plugin adds hooks that other requests do not need.
  app.register(async (scope) => {
    await registerMultipart(scope);
    for (const route of multipartRoutes) {
      addOperation(scope, route);
    }
  });
  for (const [path, allowed] of methods) {
    addMethodNotAllowed(app, path, allowed);
  }
}

interface Route extends Omit<RouterOptions, "operations" | "now"> {
  readonly name: string;
  readonly operation: Operation;
  readonly loginLimit: LoginLimit;
}

function addOperation(app: FastifyInstance, route: Route): void {
  const { name, operation, platform, bodyLimit, loginLimit } = route;
  for (const { path, credential } of [operation, ...operation.also]) {
    app.route({
      method: operation.method,
      url: toUrl(path),
      config: { operation: name, credential },
      ...(credential === "none" ? {} : { bodyLimit }),
      ...(operation.sensitive
        ? { preHandler: async (request, reply) => loginLimit.check(request, reply) }
        : {}),
      async handler(request, reply) {
        const form = readForm(operation, request);
        const answer = await platform.call({
          operation: name,
          path,
          caller: request.caller,
          isOperator: request.isOperator,
          ...(form ? { form, input: undefined } : { input: readInput(operation, request) }),
          idempotencyKey: readIdempotencyKey(request.headers),
          address: request.clientAddress,
          signal: abortOnClose(reply),
        });
        if (operation.sensitive) {
          loginLimit.remember(request);
        }
        if (answer.isReplay) {
          reply.header("idempotency-replayed", "true");
        }
        return reply
          .status(answer.status)
          .headers({ ...operation.responseHeaders })
          .send(answer.body);
      },
    });
  }
}

/** @throws Failure `invalid_idempotency_key`. */
function readIdempotencyKey(headers: FastifyRequest["headers"]): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) {
    return undefined;
  }
  if (typeof key !== "string" || key.length < 1 || key.length > 255) {
    throw fail("invalid_idempotency_key", { param: "Idempotency-Key" });
  }
  return key;
}

/** Aborts when the client disconnects before the response. Fastify's own signal also aborts at the request's end. */
function abortOnClose({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) {
      controller.abort();
    }
  });
  return controller.signal;
}

/** Answers 405 on a known path for every other method. */
function addMethodNotAllowed(app: FastifyInstance, path: string, allowed: readonly HTTPMethods[]): void {
  const methods: HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  app.route({
    method: methods.filter((method) => !allowed.includes(method)),
    url: toUrl(path),
    handler(request: FastifyRequest, reply: FastifyReply) {
      reply.header("allow", allowed.join(", "));
      throw fail("method_not_allowed", { method: request.method, path, allowed: allowed.join(", ") });
    },
  });
}

/** One flat input: the fields of the query or the body, and those of the path. */
function readInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const isInQuery = operation.method === "GET" || operation.method === "DELETE";
  const sent = isInQuery
    ? coerceFields(operation.input, request.query as Record<string, unknown>)
    : readBody(request.body);
  return { ...sent, ...(request.params as Record<string, string>) };
}

function readBody(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) {
    return {};
  }
  if (typeof body !== "object" || Array.isArray(body)) {
    throw fail("malformed_body", { reason: "it is not a JSON object." });
  }
  return body as Record<string, unknown>;
}

export function toUrl(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
