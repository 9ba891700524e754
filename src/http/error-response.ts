/** Maps any error to the error envelope; causes of 5xx are logged and never sent. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Log } from "../ports/telemetry/log.ts";
import { createUnavailableLog } from "./unavailable-log.ts";

/**
 * The request that failed. If Fastify itself rejects a request, there is no route, so the route is read only
 * if needed.
 */
export interface ReportedRequest {
  readonly id: string;
  readonly routeOptions: {
    /** The path of the route as declared, with placeholders. */
    readonly url?: string | undefined;
    /** In bytes. */
    readonly bodyLimit: number;
  };
}

/** Returns the failure for an error, and logs the error if it is ours. */
export type ReportError = (error: unknown, request: ReportedRequest) => Failure;

export function createReportError(log: Log): ReportError {
  const logUnavailable = createUnavailableLog(log);
  return (error, request) => {
    const failure = toFailure(error, request);
    if (failure.status === 503) {
      logUnavailable(failure.cause ?? failure);
    } else if (failure.status >= 500) {
      const facts = { request_id: request.id, route: request.routeOptions.url };
      log.error({ err: failure.cause ?? error, ...facts }, "request failed");
    }
    return failure;
  };
}

/** Returns the function that sends the failure of a request. */
export function createSendFailure(reportError: ReportError) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { id } = request;
    const failure = reportError(error, request);
    reply.headers(failureHeaders(failure, id)).status(failure.status).type("application/json");
    reply.send(failure.body(id));
  };
}

/** The headers of an error response. */
export function failureHeaders(failure: Failure, requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    ...(failure.status === 401 ? { "www-authenticate": 'Bearer realm="tidings"' } : {}),
    ...(failure.isReplay ? { "idempotency-replayed": "true" } : {}),
    ...(failure.retryAfter === undefined ? {} : { "retry-after": String(failure.retryAfter) }),
  };
}

function toFailure(error: unknown, request: ReportedRequest): Failure {
  if (error instanceof Failure) {
    return error;
  }
  if (!(error instanceof Error)) {
    return fail("internal", {}, error);
  }
  const { code = "", statusCode = 500, message }: Partial<FastifyError> = error;
  const mapped = byFastifyCode[code]?.(request);
  if (mapped) {
    return mapped;
  }
  const isClientError = statusCode >= 400 && statusCode < 500;
  return isClientError ? fail("malformed_body", { reason: message }, error) : fail("internal", {}, error);
}

/** The failures of requests that Fastify rejects before a handler runs. */
const byFastifyCode: Readonly<Record<string, (request: ReportedRequest) => Failure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }) => fail("body_too_large", { limit: routeOptions.bodyLimit }),
  FST_ERR_BAD_URL: () => fail("malformed_request"),
  FST_ERR_MAX_PARAM_LENGTH: () => fail("malformed_request"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => fail("unsupported_media_type"),
};
