/** The routes, made from the catalogue: nothing here knows any one of them. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { type Operation, readCredential, readFields } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";
import { acceptForms, formOf } from "./form.ts";
import { createLoginLimit, readIdempotencyKey } from "./guards.ts";

/** What is known of a request's caller before its operation runs. */
export type Authenticate = Platform["authenticate"];

export function addOperations(
  app: FastifyInstance,
  platform: Platform,
  operations: Readonly<Record<string, Operation>>,
): void {
  const limitLogin = createLoginLimit();
  const methods = new Map<string, HTTPMethods[]>();
  const withForms: Route[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    for (const { path } of [operation, ...operation.also]) {
      methods.set(path, [...(methods.get(path) ?? []), operation.method]);
    }
    if (operation.encoding === "multipart") {
      withForms.push({ name, operation, platform, limitLogin });
    } else {
      addOperation(app, { name, operation, platform, limitLogin });
    }
  }
  // In a room of their own: the parser of forms has hooks, which other requests do without.
  app.register(async (room) => {
    await acceptForms(room);
    for (const route of withForms) {
      addOperation(room, route);
    }
  });
  for (const [path, allowed] of methods) {
    addRefusal(app, path, allowed);
  }
}

interface Route {
  readonly name: string;
  readonly operation: Operation;
  readonly platform: Platform;
  readonly limitLogin: ReturnType<typeof createLoginLimit>;
}

const takesPassword = new Set(["login", "change_password"]);

function addOperation(app: FastifyInstance, { name, operation, platform, limitLogin }: Route): void {
  for (const { path, credential } of [operation, ...operation.also]) {
    app.route({
      method: operation.method,
      url: toUrl(path),
      config: { operation: name },
      ...(takesPassword.has(name) ? { preHandler: limitLogin } : {}),
      async handler(request, reply) {
        const caller = credential === "none" ? null : await identify(platform, request);
        const form = formOf(operation, request);
        const answer = await platform.call({
          operation: name,
          path,
          caller,
          ...(form ? { form, input: undefined } : { input: readInput(operation, request) }),
          idempotencyKey: readIdempotencyKey(request.headers),
          signal: hangUpOf(reply),
        });
        if (answer.isReplay) {
          reply.header("idempotency-replayed", "true");
        }
        return reply.status(answer.status).send(answer.body);
      },
    });
  }
}

/** @throws Failure `credential_missing` or `credential_invalid`. */
export async function identify(platform: { authenticate: Authenticate }, request: FastifyRequest) {
  const credential = readCredential(request.headers);
  if (credential === undefined) {
    throw fail("credential_missing");
  }
  return platform.authenticate(credential);
}

/** Aborted when the caller goes before it is answered. Not Fastify's own, which a request's end aborts too. */
function hangUpOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) {
      controller.abort();
    }
  });
  return controller.signal;
}

/** A known path with a method that it does not answer. */
function addRefusal(app: FastifyInstance, path: string, allowed: readonly HTTPMethods[]): void {
  const all: HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  app.route({
    method: all.filter((method) => !allowed.includes(method)),
    url: toUrl(path),
    handler(request: FastifyRequest, reply: FastifyReply) {
      reply.header("allow", allowed.join(", "));
      throw fail("method_not_allowed", { method: request.method, path, allowed: allowed.join(", ") });
    },
  });
}

/** One flat input: the path's fields, then the query's or the body's. */
function readInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const isInQuery = operation.method === "GET" || operation.method === "DELETE";
  const sent = isInQuery
    ? readFields(operation.input, request.query as Record<string, unknown>)
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

function toUrl(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
