/** The node that calls an HTTP endpoint. */
import { z } from "zod";
import { duration, durationMs, fallible, node, variableName } from "./node.ts";

export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** Why there is no response. A response with a status other than 2xx is http_error_status. */
export const callErrors = [
  "http_timeout",
  "http_unreachable",
  "http_forbidden_address",
  "http_request_invalid",
  "http_secret_missing",
  "http_outcome_unknown",
] as const;

/** A contact waits for the answer. The same limit as for receivers of webhooks. */
const maxTimeoutMs = 30_000;

const headerName = z
  .string()
  .max(128)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, "Send the name of a header, for example X-Shop.");

/** Other characters are not allowed in a header: a line break would begin another header. */
const headerText = /^[\t\x20-\x7e]*$/;

const withoutKey = [
  (values: object) => Object.keys(values).every((name) => name.toLowerCase() !== "idempotency-key"),
  "Leave out Idempotency-Key: the service sets it, to the same value when a call is repeated.",
] as const;

const headers = z
  .record(headerName, z.string().min(1).max(4096).regex(headerText, "Send one line of ASCII characters."))
  .refine((values) => Object.keys(values).length <= 30, "Send at most 30 headers.")
  .refine(...withoutKey);

/**
 * The most characters in the values of a call's secret headers, because they are searched for in its
 * response.
 */
export const maxSecretsLength = 8192;

/** Null keeps the stored value. */
const secretHeaders = z
  .record(
    headerName,
    z.string().min(1).max(4096).regex(headerText, "Send one line of ASCII characters.").nullable(),
  )
  .refine((values) => Object.keys(values).length <= 10, "Send at most 10 secret headers.")
  .refine(
    (values) => Object.values(values).join("").length <= maxSecretsLength,
    `Send secret headers of at most ${maxSecretsLength} characters together.`,
  )
  .refine(...withoutKey);

/**
 * Only the part after the host may have placeholders: what a contact writes must not decide which host is
 * called.
 */
const literalOrigin = /^[a-z]+:\/\/[^\s/?#\\{}]+(?:[/?#]|$)/i;

const url = z
  .string()
  .max(2048)
  .refine(
    (text) => literalOrigin.test(text),
    "Send an address such as https://api.example.com/orders/{{vars.number}}; scheme and host have no placeholders.",
  );

export const httpNodes = {
  http_request: node({
    summary:
      "Calls an HTTP endpoint. vars.<save_as>.status is the HTTP status, vars.<save_as>.body.<path> a value of the JSON. No response, or another status than 2xx, takes the error edge.",
    examples: [
      { url: "https://api.example.com/orders/{{vars.number}}", save_as: "order", timeout: "10s" },
      {
        method: "POST",
        url: "https://api.example.com/leads",
        headers: { "X-Source": "chat" },
        secret_headers: { Authorization: "Bearer <token>" },
        body: { phone: "{{contact.phone_number}}" },
      },
    ],
    config: z
      .strictObject({
        /** The default is POST with a body, and GET without. */
        method: z.enum(httpMethods).optional(),
        url,
        headers: headers.optional(),
        secret_headers: secretHeaders.optional(),
        /** An object or a list is sent as JSON. */
        body: z
          .union(
            [z.string().min(1), z.array(z.unknown()), z.record(z.string(), z.unknown())],
            "Send an object, a list or a text that is not empty.",
          )
          .optional(),
        save_as: variableName.optional(),
        timeout: duration
          .refine((text) => durationMs(text) <= maxTimeoutMs, "Send a duration of at most 30s.")
          .default("10s"),
      })
      .refine(({ method, body }) => body === undefined || (method !== "GET" && method !== "HEAD"), {
        path: ["body"],
        error: "Leave out body, or send it with POST, PUT, PATCH or DELETE.",
      })
      .refine(({ headers: shown = {}, secret_headers = {} }) => areDistinct(shown, secret_headers), {
        path: ["headers"],
        error: "Send each header once: in headers or in secret_headers.",
      }),
    scope: "tokens:create",
    edges: fallible,
  }),
} as const;

/** The case of a header's name does not matter. */
function areDistinct(...groups: readonly object[]): boolean {
  const names = groups.flatMap((group) => Object.keys(group).map((name) => name.toLowerCase()));
  return new Set(names).size === names.length;
}
