/**
 * Serves a request for an operation. The caller is known and counted. The same function serves the REST
 * routes and the calls of MCP, so neither has rules of its own.
 */
import type { IncomingHttpHeaders } from "node:http";
import {
  coerceFields,
  describeUnknownFields,
  type Operation,
  readToolHeader,
} from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { Platform } from "../../platform/index.ts";
import type { Form } from "../../ports/transport/form.ts";
import type { LoginLimit, RequestActor } from "../admission/index.ts";

/** One path of an operation. */
export interface OperationRoute {
  readonly name: string;
  readonly operation: Operation;
  readonly path: string;
}

export interface ReceivedRequest {
  readonly route: OperationRoute;
  /** How the request arrived. The query of a REST request contains only texts. */
  readonly transport: "rest" | "mcp";
  readonly actor: RequestActor;
  readonly headers: IncomingHttpHeaders;
  /** The fields of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The query, or the parsed body. */
  readonly sent: unknown;
  /** A form that is still being received, in place of `sent`. */
  readonly form: Form | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Sets a header of the response. */
  setHeader(name: string, value: string): void;
}

/** Returns the status and the body of the response. @throws Failure */
export type ServeOperation = (request: ReceivedRequest) => Promise<{
  readonly status: number;
  readonly body: unknown;
}>;

export function createServeOperation(
  platform: Pick<Platform, "call">,
  loginLimit: LoginLimit,
): ServeOperation {
  return async (request) => {
    const { route, actor, headers, params, form, signal, setHeader } = request;
    const { name, operation, path } = route;
    const attempt = { address: actor.address, input: request.sent, setHeader };
    if (operation.sensitive) {
      loginLimit.check(attempt);
    }
    const sent = form ? {} : readSent(operation, request.sent);
    const { caller, isOperator, address } = actor;
    const answer = await platform.call({
      operation: name,
      path,
      caller,
      isOperator,
      address,
      tool: readToolHeader(headers),
      signal,
      ...(form ? { form, input: undefined } : { input: { ...readFields(request, sent), ...params } }),
      idempotencyKey: readIdempotencyKey(headers),
    });
    if (operation.sensitive) {
      loginLimit.remember(attempt);
    }
    if (answer.isReplay) {
      setHeader("idempotency-replayed", "true");
    }
    for (const [header, value] of Object.entries(operation.responseHeaders)) {
      setHeader(header, value);
    }
    return { status: answer.status, body: withWarnings(answer.body, operation, sent) };
  };
}

type Fields = Readonly<Record<string, unknown>>;

export function hasQuery({ method }: Operation): boolean {
  return method === "GET" || method === "DELETE";
}

function readSent(operation: Operation, sent: unknown): Fields {
  if (hasQuery(operation)) {
    return sent as Fields; // a parsed query is an object
  }
  if (sent === undefined || sent === null) {
    return {};
  }
  if (typeof sent !== "object" || Array.isArray(sent)) {
    throw fail("malformed_body", { reason: "it is not a JSON object." });
  }
  return sent as Fields; // checked above
}

function readFields({ route: { operation }, transport }: ReceivedRequest, sent: Fields): Fields {
  return transport === "rest" && hasQuery(operation) ? coerceFields(operation.input, sent) : sent;
}

/** @throws Failure `invalid_idempotency_key`. */
function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) {
    return undefined;
  }
  if (typeof key !== "string" || key.length < 1 || key.length > 255) {
    throw fail("invalid_idempotency_key", { param: "Idempotency-Key" });
  }
  return key;
}

/** Names the fields that were ignored, so that a misspelt field is noticed. */
function withWarnings(body: unknown, { input }: Operation, sent: Fields): unknown {
  const warnings = describeUnknownFields(input, sent);
  return warnings.length === 0 ? body : Object.assign({}, body, { warnings });
}
