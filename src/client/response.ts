/**
 * Reads the response of a service: a JSON object, or an error.
 *
 * The body of an error is passed on only in two shapes: our own error envelope, and the problem details of
 * RFC 9457 with a 4xx status. Anything else may hold internals of a service or of a proxy in front of it
 * (stack traces, SQL, addresses), which no list of patterns finds. Such a body is replaced by the message for
 * the status.
 */
import { ErrorBody, readRetryAfterMs } from "../../tools/contract/index.ts";
import type { OperationResponse } from "../ports/transport/operation-request.ts";
import { CallFailure } from "./failure.ts";

/** The JSON object of a successful response. @throws CallFailure for anything else. */
export function readResponse(answer: OperationResponse): object {
  if (isObject(answer.body)) {
    return answer.body;
  }
  const message = `The service answered ${answer.status}, but not with a JSON object: is this its address?`;
  throw new CallFailure({
    status: answer.status,
    code: "not_json",
    message,
    requestId: readRequestId(answer),
  });
}

/** The error of an unsuccessful response. */
export function readFailure(answer: OperationResponse): CallFailure {
  const { status, headers } = answer;
  const error = readEnvelope(answer);
  const retryAfterMs = readRetryAfterMs(String(headers["retry-after"] ?? ""), new Date());
  return new CallFailure({
    status,
    code: error?.code ?? `http_${status}`,
    message: error?.message ?? readProblem(answer) ?? CallFailure.messageForStatus(status),
    error,
    requestId: readRequestId(answer) ?? error?.request_id,
    retryAfterSeconds: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
  });
}

/** Our 5xx errors have no other members. */
const baseErrorSchema = ErrorBody.shape.error.strip();

function readEnvelope({ status, body }: OperationResponse): ErrorBody["error"] | undefined {
  const error = ErrorBody.safeParse(body).data?.error;
  return error && status >= 500 ? baseErrorSchema.parse(error) : error;
}

/**
 * The title and detail of an RFC 9457 document. Not used for a 5xx, where frameworks put the text of the
 * exception.
 */
function readProblem({ status, headers, body }: OperationResponse): string | undefined {
  const isProblem = /^application\/problem\+json\s*(?:;|$)/i.test(String(headers["content-type"] ?? ""));
  const texts = isProblem && status < 500 && isObject(body) ? [body.title, body.detail].filter(isText) : [];
  return texts.length === 0 ? undefined : texts.join(": ");
}

function readRequestId({ headers }: OperationResponse): string | undefined {
  const id = headers["x-request-id"];
  return isText(id) && /^[\w.-]{1,64}$/.test(id) ? id : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
