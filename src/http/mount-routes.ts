/** Mounts the routes of modules and adapters that are not operations. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { missingScope, permits, readToolHeader } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { allowedOperations, requireOperation } from "../../tools/rule-operations.ts";
import { requireStorable } from "../../tools/storable.ts";
import type { Platform } from "../platform/index.ts";
import type { Caller } from "../ports/transport/caller.ts";
import type {
  BodyKind,
  CredentialRoute,
  HttpAnswer,
  HttpRequest,
  HttpRoute,
  RouteWithBody,
} from "../ports/transport/http-route.ts";
import { type LoginLimit, toExchange, type Verification } from "./admission/index.ts";
import type { ReceiveBody } from "./bodies/index.ts";
import { toUrl } from "./operations/index.ts";

interface RouteTypes {
  Params: Record<string, string>;
  Querystring: Record<string, string | string[]>;
}

export interface MountOptions {
  readonly routes: readonly HttpRoute[];
  readonly platform: Pick<Platform, "runFor">;
  readonly verification: Verification;
  readonly receive: ReceiveBody;
  readonly loginLimit: LoginLimit;
  /** The limit for requests with a credential, in bytes, if the route has no limit of its own. */
  readonly bodyLimit: number;
}

export function mountRoutes(app: FastifyInstance, options: MountOptions): void {
  const { routes, receive } = options;
  for (const route of routes.filter(({ body }) => body !== "raw")) {
    mountRoute(app, route, options);
  }
  // In a separate scope, because their bodies may have any content type and are not parsed.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", receive);
    for (const route of routes.filter(({ body }) => body === "raw")) {
      mountRoute(scope, route, options);
    }
  });
}

function mountRoute<Body extends BodyKind>(
  app: FastifyInstance,
  route: RouteWithBody<Body>,
  { platform, verification, loginLimit, bodyLimit: defaultBodyLimit }: MountOptions,
): void {
  const { credential, isRateLimited = true, isForOwnPages = false, maxBodyBytes } = route;
  const bodyLimit = maxBodyBytes ?? (credential === "none" ? undefined : defaultBodyLimit);
  app.route<RouteTypes>({
    method: [...route.methods],
    url: toUrl(route.path),
    config: { credential, isRateLimited, isForOwnPages },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    async onRequest(request, reply) {
      const { params, query } = request;
      requireStorable({ ...query, ...params });
      if (route.credential === "none" && route.limitsRejections) {
        const requireTarget = () => platform.runFor(null, async () => route.requireTarget?.(params));
        await verification.admit(toExchange(request, reply), { route: route.path, params, requireTarget });
      }
    },
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
        const work = () => platform.runFor(null, () => route.handle(read));
        const handle = route.triesPassword ? () => limitLogin(loginLimit, { request, reply }, work) : work;
        const path = { route: route.path, params: request.params };
        return send(
          reply,
          await (route.limitsRejections
            ? verification.verify(toExchange(request, reply), path, handle)
            : handle()),
        );
      }
      const caller = authorize(request, route);
      const { organization_id } = caller;
      const handle = () => route.handle({ ...read, organization_id, caller });
      return send(reply, await platform.runFor(organization_id, handle));
    },
  });
}

interface Received {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Attempts at passwords count together with the attempts of operations. */
async function limitLogin(
  loginLimit: LoginLimit,
  { request, reply }: Received,
  handle: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const { address, setHeader } = toExchange(request, reply);
  const attempt = { address, input: request.body, setHeader };
  loginLimit.check(attempt);
  const answer = await handle();
  if ("status" in answer) {
    loginLimit.remember(attempt);
  }
  return answer;
}

const readBody: { readonly [Body in BodyKind]: (body: unknown) => HttpRequest<Body>["body"] } = {
  none: () => undefined,
  json(body) {
    requireStorable(body);
    return body;
  },
  // The parser does not run if there is no body.
  raw: (body) => (body instanceof Uint8Array ? body : new Uint8Array()),
};

/**
 * A file that was released for a key would be read by the key, so an export is not planned: a person
 * downloads it.
 * @throws Failure `credential_missing`, `insufficient_scope`, `not_allowed_by_rules`, `approval_required`.
 */
function authorize(
  { caller, headers }: FastifyRequest,
  { path, scope, operation, isExport = false }: CredentialRoute<BodyKind>,
): Caller {
  if (!caller) {
    throw fail("credential_missing");
  }
  if (!permits(caller.scopes, scope)) {
    throw fail("insufficient_scope", missingScope(scope));
  }
  const { rules, toolRules } = caller;
  const bound = readToolHeader(headers) === undefined ? rules : [...rules, ...toolRules];
  requireOperation(allowedOperations(bound), operation ?? path);
  if (isExport && bound.some(({ approve }) => approve.export === true)) {
    throw fail("approval_required", { reason: "it exports many rows" });
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
