/** Derives the routes from the catalogue; no code here names an operation. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { Operation } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { toActor } from "../admission/index.ts";
import { readForm, registerMultipart } from "./multipart.ts";
import { hasQuery, type OperationRoute, type ServeOperation } from "./serve.ts";

export interface RouterOptions {
  readonly serve: ServeOperation;
  readonly operations: Readonly<Record<string, Operation>>;
  /** The largest body of a request with a credential, in bytes. */
  readonly bodyLimit: number;
}

export function addOperations(app: FastifyInstance, options: RouterOptions): void {
  const { operations } = options;
  const methods = new Map<string, HTTPMethods[]>();
  const multipartOperations: [string, Operation][] = [];
  for (const [name, operation] of Object.entries(operations)) {
    for (const { path } of [operation, ...operation.also]) {
      methods.set(path, [...(methods.get(path) ?? []), operation.method]);
    }
    if (operation.encoding === "multipart") {
      multipartOperations.push([name, operation]);
    } else {
      addOperation(app, options, name, operation);
    }
  }
  // In a separate scope, because the multipart plugin adds hooks that other requests do not need.
  app.register(async (scope) => {
    await registerMultipart(scope);
    for (const [name, operation] of multipartOperations) {
      addOperation(scope, options, name, operation);
    }
  });
  for (const [path, allowed] of methods) {
    addMethodNotAllowed(app, path, allowed);
  }
}

function addOperation(
  app: FastifyInstance,
  { serve, bodyLimit }: RouterOptions,
  name: string,
  operation: Operation,
): void {
  for (const { path, credential } of [operation, ...operation.also]) {
    const route: OperationRoute = { name, operation, path };
    app.route({
      method: operation.method,
      url: toUrl(path),
      config: { operation: name, credential },
      ...(credential === "none" ? {} : { bodyLimit }),
      ...(operation.showsSecret || operation.sensitive ? {} : { compress: {} }),
      async handler(request, reply) {
        const { status, body } = await serve({
          route,
          transport: "rest",
          actor: toActor(request),
          headers: request.headers,
          params: request.params as Record<string, string>, // of a path with placeholders only
          sent: hasQuery(operation) ? request.query : request.body,
          form: readForm(operation, request),
          signal: abortOnClose(reply),
          setHeader: (header, value) => reply.header(header, value),
        });
        return reply.status(status).send(body);
      },
    });
  }
}

/**
 * Aborts when the client disconnects before the response. Fastify's own signal also aborts at the request's
 * end.
 */
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

export function toUrl(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
