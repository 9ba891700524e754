/** Mounts the routes of modules and adapters that are not operations. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { missingScope, permits, type ScopeRule } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";
import type { Caller } from "../ports/transport/caller.ts";
import type {
  BodyKind,
  HttpAnswer,
  HttpRequest,
  HttpRoute,
  RouteWithBody,
} from "../ports/transport/http-route.ts";
import { type Admission, toExchange } from "./admission/index.ts";
import { toUrl } from "./operations/index.ts";

interface RouteTypes {
  Params: Record<string, string>;
  Querystring: Record<string, string | string[]>;
}

export interface MountOptions {
  readonly routes: readonly HttpRoute[];
  readonly platform: Pick<Platform, "runFor">;
  readonly admission: Pick<Admission, "verify">;
  /** The limit for requests with a credential, in bytes, if the route has no limit of its own. */
  readonly bodyLimit: number;
}

export function mountRoutes(app: FastifyInstance, options: MountOptions): void {
  const { routes } = options;
  for (const route of routes.filter(({ body }) => body !== "raw")) {
    mountRoute(app, route, options);
  }
  // In a separate scope, because their bodies may have any content type and are not parsed.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    for (const route of routes.filter(({ body }) => body === "raw")) {
      mountRoute(scope, route, options);
    }
  });
}

function mountRoute<Body extends BodyKind>(
  app: FastifyInstance,
  route: RouteWithBody<Body>,
  { platform, admission, bodyLimit: defaultBodyLimit }: MountOptions,
): void {
  const { credential, isRateLimited = true, maxBodyBytes } = route;
  const bodyLimit = maxBodyBytes ?? (credential === "none" ? undefined : defaultBodyLimit);
  app.route<RouteTypes>({
    method: [...route.methods],
    url: toUrl(route.path),
    config: { credential, isRateLimited },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    async handler(request, reply) {
      const read: HttpRequest<Body> = {
        params: request.params,
        query: request.query,
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        isHead: request.method === "HEAD",
        body: readBody[route.body](request.body),
      };
      if (route.credential === "none") {
        const handle = () => platform.runFor(null, () => route.handle(read));
        return send(
          reply,
          await (route.limitsRejections ? verifyWith(admission, { request, reply }, handle) : handle()),
        );
      }
      const caller = authorize(request, route.scope);
      const { organization_id } = caller;
      const handle = () => route.handle({ ...read, organization_id, caller });
      return send(reply, await platform.runFor(organization_id, handle));
    },
  });
}

/** Limits requests to a path whose handler rejects them. */
async function verifyWith(
  { verify }: Pick<Admission, "verify">,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  handle: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const isRejection = (answer: HttpAnswer) => "status" in answer && [401, 403].includes(answer.status);
  return verify(toExchange(request, reply), request.url.split("?")[0] ?? "", { handle, isRejection });
}

const readBody: { readonly [Body in BodyKind]: (body: unknown) => HttpRequest<Body>["body"] } = {
  none: () => undefined,
  json: (body) => body,
  // The parser does not run if there is no body.
  raw: (body) => (body instanceof Uint8Array ? body : new Uint8Array()),
};

/** @throws Failure `credential_missing`, `insufficient_scope`. */
function authorize({ caller }: FastifyRequest, scope: ScopeRule | null): Caller {
  if (!caller) {
    throw fail("credential_missing");
  }
  if (!permits(caller.scopes, scope)) {
    throw fail("insufficient_scope", missingScope(scope));
  }
  return caller;
}

function send(reply: FastifyReply, answer: HttpAnswer): FastifyReply {
  if ("invalid" in answer) {
    const { field, message } = answer.invalid;
    const param = field === "" ? {} : { param: field };
    const details = [{ field, code: "invalid", message }];
    throw fail("invalid_request", { reason: message, ...param, details });
  }
  const { status, headers = {}, body } = answer;
  reply.status(status).headers(headers);
  return reply.send(isStream(body) ? Readable.from(body, { objectMode: false }) : body);
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
