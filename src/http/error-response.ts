/** Maps any error to the error envelope; causes of 5xx are logged and never sent. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Log } from "../ports/log.ts";
import { createUnavailableLog } from "./unavailable-log.ts";

/** Returns the function that sends the failure of a request. */
export function createSendFailure(log: Log) {
  const logUnavailable = createUnavailableLog(log);
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = toFailure(error, request);
    if (failure.status === 503) {
      logUnavailable(failure.cause ?? failure);
    } else if (failure.status >= 500) {
      log.error(
        { err: failure.cause ?? error, request_id: request.id, route: request.routeOptions.url },
        "request failed",
      );
    }
    sendFailure(failure, request, reply);
  };
}

function sendFailure(failure: Failure, request: FastifyRequest, reply: FastifyReply): void {
  if (failure.status === 401) {
    reply.header("www-authenticate", 'Bearer realm="tidings"');
  }
  if (failure.isReplay) {
    reply.header("idempotency-replayed", "true");
  }
  if (failure.retryAfter !== undefined) {
    reply.header("retry-after", String(failure.retryAfter));
  }
  reply.header("x-request-id", request.id);
  reply.status(failure.status).type("application/json").send(failure.body(request.id));
}

function toFailure(error: unknown, request: FastifyRequest): Failure {
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

/** Requests that Fastify rejects before a handler runs. */
const byFastifyCode: Readonly<Record<string, (request: FastifyRequest) => Failure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => fail("body_too_large", { limit: request.routeOptions.bodyLimit }),
  FST_ERR_BAD_URL: () => fail("malformed_request"),
  FST_ERR_MAX_PARAM_LENGTH: () => fail("malformed_request"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => fail("unsupported_media_type"),
};
