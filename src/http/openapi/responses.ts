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

/** A response to a request that failed. */
interface FailedResponse {
  readonly name: string;
  readonly description: string;
  readonly example: Failure;
  readonly headers?: readonly (keyof typeof headers)[];
}

const failures = {
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
  402: {
    name: "PaymentRequired",
    description: "The wallet has too little money.",
    example: fail("insufficient_funds", { required: 0.01, available: 0, currency: "USD" }),
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
  500: {
    name: "InternalError",
    description: "The service failed.",
    example: fail("internal"),
  },
  503: {
    name: "Unavailable",
    description: "The service, or another one that it needs, is away for a moment.",
    example: fail("unavailable", { reason: "it is stopping." }),
    headers: ["Retry-After"],
  },
} as const satisfies Readonly<Record<number, FailedResponse>>;

export type FailureStatus = keyof typeof failures;

/** The references to the responses with these statuses, and to those of the service's own failures. */
export function referFailures(statuses: readonly FailureStatus[]): JsonSchema {
  const all = [...statuses, 500, 503] as const;
  return Object.fromEntries(all.map((status) => [status, refer("responses", failures[status].name)]));
}

/** The failures that a path of an operation can have, by what its declaration says. */
export function failuresOf(operation: Operation, path: string, credential: Credential): FailureStatus[] {
  const fields = Object.keys(operation.input.shape);
  const isGuarded = credential !== "none";
  const isWrite = operation.effect !== "read";
  const hasBody = !hasQuery(operation);
  // A DELETE needs no body, but one that is sent is read.
  const mayHaveBody = operation.method !== "GET";
  const isPossible: Readonly<Record<number, boolean>> = {
    400: fields.length > 0 || hasBody || isWrite,
    // A write without a credential in the header, such as signing in, has one in its body.
    401: isGuarded || isWrite,
    403: isGuarded || isWrite,
    404: path.includes("{") || fields.some((field) => /(?:^to|_ids?)$/.test(field)),
    409: isWrite,
    413: mayHaveBody,
    415: mayHaveBody,
    422: isWrite || fields.includes("search"),
    429: true,
  };
  const statuses = Object.keys(failures).map(Number) as FailureStatus[]; // the keys of a literal
  return statuses.filter((status) => isPossible[status] || operation.failures.includes(status));
}

/** The responses to requests that failed, under their names. */
export function describeFailures(): Readonly<Record<string, JsonSchema>> {
  const entries = Object.entries<FailedResponse>(failures).map(([status, failure]) => [
    failure.name,
    {
      description: `${failure.description} ${describeTypes(Number(status))}`,
      headers: referHeaders(["X-Request-Id", ...(failure.headers ?? [])]),
      content: failureContent(failure.example),
    },
  ]);
  return Object.fromEntries(entries);
}

/** The response to a call that waits for a person, or for the user of its client. */
export function describeParked(): JsonSchema {
  const text = { type: "string" };
  const members = {
    id: text,
    status: text,
    summary: text,
    why: { type: "array", items: text },
    confirmable: { type: "boolean" },
    expires_at: { type: "string", format: "date-time" },
  };
  const object = (properties: Record<string, JsonSchema>) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  const plan = {
    id: "plan_01m7zc81jq1d3bq0c4k8p7x2ms",
    status: "awaiting_approval",
    summary: "Execute the broadcast Autumn offer from +14155550100",
    why: ["it reaches more than 100 people"],
    confirmable: false,
    expires_at: "2026-11-22T15:43:46.200Z",
  };
  return {
    description: "Nothing was done: the rules of the credential ask for a person, and a plan waits for one.",
    headers: referHeaders(["X-Request-Id"]),
    content: {
      "application/json": {
        schema: object({ data: object({ plan: object(members) }) }),
        example: { data: { plan } },
      },
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
  const schema = refer("schemas", "ErrorResponse");
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
