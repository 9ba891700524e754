/**
 * The node that calls an HTTP endpoint: builds the request with its placeholders filled in, and reads the
 * result of the call. `calls/` sends the request after the commit.
 */
import { durationMs, type NodeConfig } from "../../../../../tools/flows/index.ts";
import type { Problem } from "../graph/index.ts";
import { hasPlaceholder, renderText } from "../texts/placeholders.ts";
import { bodyEncoder, contentTypeOf, findUnencoded, headerEncoder } from "./http-encoding.ts";
import { always, done, type NodeContext, type NodeHandlers, type NodeOutcome } from "./node.ts";

type Config = NodeConfig<"http_request">;

/** The limit with placeholders filled in: each text may become a variable's whole response. */
const maxBodyLength = 262_144;

/** Limits that common servers accept. */
const maxUrlLength = 8_192;
const maxHeaderLength = 8_192;

export const httpHandlers: NodeHandlers<"http_request"> = {
  http_request: {
    texts: ({ url, headers = {}, body }) => ({
      url,
      ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [`headers.${name}`, text])),
      ...Object.fromEntries(textsIn(body, "body")),
    }),

    saves: ({ save_as }) =>
      save_as === undefined ? [] : [`${save_as}.status`, `${save_as}.body`, `${save_as}.body.<path>`],

    warnings: findUnencoded,
    sharesTransaction: always,

    check: ({ url, body }, field) => [...checkPath(url, field), ...checkKeys(body, field)],

    requests: ({ url, headers = {}, secret_headers = {} }) => ({
      url: fillWithAnything(url),
      headers: {
        ...mapValues(headers, fillWithAnything),
        ...mapValues(secret_headers, (value) => value ?? "stored"),
      },
    }),

    secrets: ({ secret_headers = {} }) => secret_headers,

    enter: createRequest,

    receive({ save_as }, result) {
      if ("error" in result) {
        return { kind: "error", code: result.error };
      }
      const save = save_as === undefined ? {} : { [save_as]: result };
      const isSuccess = result.status >= 200 && result.status <= 299;
      return isSuccess ? { ...done(), save } : { kind: "error", code: "http_error_status", save };
    },
  },
};

/** Returns an error if a part of the request becomes too long, or the path has a segment that leads up. */
function createRequest(config: Config, context: NodeContext): NodeOutcome {
  const { url: template, timeout, headers = {}, secret_headers = {} } = config;
  const url = context.render(template, { encode: encodeURIComponent, maxLength: maxUrlLength });
  const body = fillBody(config, context);
  const filled = Object.entries(headers).map(([name, text]) => {
    const form = { encode: headerEncoder(name), maxLength: maxHeaderLength };
    return [name, context.render(text, form)] as const;
  });
  const isTooLong = body === undefined || filled.some(([, text]) => text === undefined);
  if (url === undefined || isTooLong || hasDotSegment(url)) {
    return { kind: "error", code: "http_request_invalid" };
  }
  const names = [...Object.keys(headers), ...Object.keys(secret_headers)];
  const isTyped = body === null || names.some((name) => name.toLowerCase() === "content-type");
  const request = {
    method: config.method ?? (body === null ? "GET" : "POST"),
    url,
    body,
    timeout_ms: durationMs(timeout),
    headers: {
      ...(isTyped ? {} : { "content-type": contentTypeOf(config) ?? "" }),
      ...Object.fromEntries(filled.map(([name, text = ""]) => [name, text])),
    },
    secret_headers: Object.keys(secret_headers),
  };
  return { kind: "call", request };
}

/** Returns null if there is no body, and undefined if the body is too long. */
function fillBody(config: Config, { render, renderJson }: NodeContext): string | null | undefined {
  const { body } = config;
  if (body === undefined) {
    return null;
  }
  return typeof body === "string"
    ? render(body, { encode: bodyEncoder(config), maxLength: maxBodyLength })
    : renderJson(body, maxBodyLength);
}

/** The texts in a body, with the place of each. */
function textsIn(value: unknown, place: string): [string, string][] {
  if (typeof value === "string") {
    return [[place, value]];
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) =>
        textsIn(member, Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`),
      )
    : [];
}

/**
 * Whether the path has a segment that leads up, also if it is percent-encoded. A value must not turn one path
 * into another, and dots are not encoded.
 */
function hasDotSegment(url: string): boolean {
  const [path = ""] = url.split(/[?#]/);
  return path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

function checkPath(url: string, field: string): Problem[] {
  return hasDotSegment(fillWithAnything(url))
    ? [
        problem(
          `${field}.url`,
          "The path has a segment . or .. in it.",
          "Send the path without such segments.",
        ),
      ]
    : [];
}

/** Rejects placeholders in keys: placeholders are only filled in in texts. */
function checkKeys(body: Config["body"], field: string): Problem[] {
  return keysIn(body)
    .filter(hasPlaceholder)
    .map((key) =>
      problem(
        `${field}.body`,
        `The member ${key} has a placeholder in its name.`,
        "Put placeholders into texts alone.",
      ),
    );
}

function keysIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(keysIn)];
}

function problem(field: string, message: string, fix: string): Problem {
  return { field, code: "invalid_request", message, fix };
}

function fillWithAnything(template: string): string {
  return renderText(template, { read: () => "x", maxLength: Number.POSITIVE_INFINITY }).text ?? "";
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
