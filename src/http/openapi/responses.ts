/** The responses that several operations have, and the headers of responses: components of the document. */
import {
  type Credential,
  type Failure,
  type JsonSchema,
  missingScope,
  type Operation,
} from "../../../tools/contract/index.ts";
import { errors, fail, failField } from "../../../tools/errors.ts";
import { hasQuery } from "../operations/index.ts";

/** A response to a mistake of the caller. */
interface Rejection {
  readonly name: string;
  readonly description: string;
  readonly example: Failure;
  readonly headers?: readonly (keyof typeof headers)[];
}

const rejections = {
  400: {
    name: "InvalidRequest",
    description: "The request is not valid.",
    example: failField("page", "invalid_request", { reason: "page: Send at least 1." }),
  },
  401: {
    name: "Unauthorized",
    description: "The credential is missing or not valid.",
    example: fail("credential_missing"),
    headers: ["WWW-Authenticate"],
  },
  403: {
    name: "Forbidden",
    description: "The credential does not permit this.",
    example: fail("insufficient_scope", missingScope("contacts:read")),
  },
  404: {
    name: "NotFound",
    description: "Something that the request names does not exist.",
    example: fail("contact_not_found", { param: "id" }),
  },
  409: {
    name: "Conflict",
    description: "The present state does not permit this.",
    example: fail("request_in_progress", { retry_after: 1 }),
    headers: ["Retry-After"],
  },
  413: {
    name: "TooLarge",
    description: "The body is too large.",
    example: fail("body_too_large", { limit: 1_048_576 }),
  },
  415: {
    name: "UnsupportedMediaType",
    description: "The type of the body, or of a file, is not supported.",
    example: fail("unsupported_media_type"),
  },
  422: {
    name: "Unprocessable",
    description: "A rule of the service does not permit this.",
    example: fail("idempotency_key_reused"),
  },
  429: {
    name: "RateLimited",
    description: "Too many requests.",
    example: fail("rate_limited", { retry_after: 1 }),
    headers: ["Retry-After"],
  },
} as const satisfies Readonly<Record<number, Rejection>>;

export type RejectionStatus = keyof typeof rejections;

/** The references to the responses with these statuses, and to the one for every other failure. */
export function refuse(statuses: readonly RejectionStatus[]): JsonSchema {
  return {
    ...Object.fromEntries(statuses.map((status) => [status, refer("responses", rejections[status].name)])),
    default: refer("responses", "Failed"),
  };
}

/** The rejections that a path of an operation can have, by what its declaration says. */
export function rejectionsOf(operation: Operation, path: string, credential: Credential): RejectionStatus[] {
  const fields = Object.keys(operation.input.shape);
  const isGuarded = credential !== "none";
  const isWrite = operation.effect !== "read";
  const hasBody = !hasQuery(operation);
  const isPossible: Readonly<Record<RejectionStatus, boolean>> = {
    400: fields.length > 0 || hasBody || isWrite,
    // Signing in verifies a credential that is in the body.
    401: isGuarded || operation.sensitive || isWrite,
    403: isGuarded,
    404: path.includes("{") || fields.some((field) => /(?:^to|_ids?)$/.test(field)),
    409: isWrite,
    413: hasBody,
    415: hasBody,
    422: isWrite || fields.includes("search"),
    429: true,
  };
  const statuses = Object.keys(rejections).map(Number) as RejectionStatus[]; // the keys of a literal
  return statuses.filter((status) => isPossible[status]);
}

/** The responses of `rejections` under their names, and the one for every other failure. */
export function describeRejections(): Readonly<Record<string, JsonSchema>> {
  const entries = Object.entries<Rejection>(rejections).map(([status, rejection]) => [
    rejection.name,
    {
      description: `${rejection.description} ${describeTypes(Number(status))}`,
      headers: referHeaders(["X-Request-Id", ...(rejection.headers ?? [])]),
      content: failureContent(rejection.example),
    },
  ]);
  return {
    ...Object.fromEntries(entries),
    Failed: {
      description:
        "Any other failure: error.code says which, and error.fix what to do next. 402 has the type payment_required, and 503 means that the request can be sent again after Retry-After.",
      headers: referHeaders(["X-Request-Id", "Retry-After"]),
      content: failureContent(fail("unavailable", { reason: "it is stopping." })),
    },
  };
}

/** The error types that responses with this status can have. */
function describeTypes(status: number): string {
  const entries = Object.values(errors).filter((entry) => entry.status === status);
  const types = [...new Set(entries.map(({ type }) => type))];
  return `error.type is ${types.join(" or ")}.`;
}

function failureContent(example: Failure): JsonSchema {
  const schema = refer("schemas", "Error");
  return {
    "application/json": { schema, example: example.body("req_77ea101a-c0f0-4903-b3bd-1c68da47d483") },
  };
}

/** The headers of responses. */
const headers = {
  "X-Request-Id": describeHeader("The id of the request in the log: the caller's own, or a new one."),
  "RateLimit-Limit": describeHeader("Requests a second.", "integer"),
  "RateLimit-Remaining": describeHeader("Requests that can be made now.", "integer"),
  "RateLimit-Reset": describeHeader("Seconds until RateLimit-Remaining is RateLimit-Limit again.", "integer"),
  "Idempotency-Replayed": describeHeader(
    "true if this is the stored response to an earlier request with the same Idempotency-Key.",
  ),
  "Retry-After": describeHeader("Seconds to wait before the request is sent again.", "integer"),
  "WWW-Authenticate": describeHeader("The scheme of the credential."),
  ETag: describeHeader("Changes with the content; send it back in If-None-Match."),
} as const;

export type HeaderName = keyof typeof headers;

export { headers as headerComponents };

export function referHeaders(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, refer("headers", name)]));
}

export const rateLimitHeaders = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

export function refer(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

function describeHeader(description: string, type = "string"): JsonSchema {
  return { description, schema: { type } };
}
