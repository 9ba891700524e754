/**
 * What the node does that calls an HTTP endpoint: the request with its placeholders filled in, and what follows from the
 * response. `calls/` sends it, after the commit.
 */
import { durationMs, type NodeConfig } from "../../../../tools/flows/index.ts";
import type { Problem } from "../graph/index.ts";
import { hasPlaceholder, renderText } from "../texts.ts";
import { done, type NodeHandlers } from "./node.ts";

type Config = NodeConfig<"http_request">;

/** With its placeholders filled in: each text may become a variable's whole response. */
const maxBodyLength = 262_144;

export const httpHandlers: NodeHandlers<"http_request"> = {
  http_request: {
    texts: ({ url, headers = {}, body }) => ({
      url,
      ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [`headers.${name}`, text])),
      ...Object.fromEntries(textsIn(body, "body")),
    }),

    saves: ({ save_as }) =>
      save_as === undefined ? [] : [`${save_as}.status`, `${save_as}.body`, `${save_as}.body.<path>`],

    check: ({ url, body }, field) => [...checkPath(url, field), ...checkKeys(body, field)],

    requests: ({ url, headers = {}, secret_headers = {} }) => ({
      url: fillWithAnything(url),
      headers: {
        ...mapValues(headers, fillWithAnything),
        ...mapValues(secret_headers, (value) => value ?? "stored"),
      },
    }),

    secrets: ({ secret_headers = {} }) => secret_headers,

    enter(config, { render, renderJson }) {
      const { url: template, body, timeout, headers = {}, secret_headers = {} } = config;
      const isText = typeof body === "string";
      const content = body === undefined ? null : isText ? render(body) : JSON.stringify(renderJson(body));
      const url = render(template, encodeURIComponent);
      if (hasDotSegment(url) || (content ?? "").length > maxBodyLength) {
        return { kind: "error", code: "http_request_invalid" };
      }
      const names = [...Object.keys(headers), ...Object.keys(secret_headers)];
      const isTyped = content === null || names.some((name) => name.toLowerCase() === "content-type");
      const type = isText ? "text/plain; charset=utf-8" : "application/json";
      const request = {
        method: config.method ?? (content === null ? "GET" : "POST"),
        ...{ url, body: content, timeout_ms: durationMs(timeout) },
        headers: {
          ...(isTyped ? {} : { "content-type": type }),
          ...mapValues(headers, (text) => render(text, encodeHeader)),
        },
        secret_headers: Object.keys(secret_headers),
      };
      return { kind: "call", request };
    },

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

/** The texts in a body, by their place. */
function textsIn(value: unknown, place: string): [string, string][] {
  if (typeof value === "string") {
    return [[place, value]];
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) => textsIn(member, `${place}.${name}`))
    : [];
}

/** A line break would begin another header, and other characters than those of ASCII have no common encoding there. */
function encodeHeader(value: string): string {
  return value.replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}

/**
 * Whether the path has a segment that leads up, also in percent-encoding. A value must not lead from one path to another, and
 * dots are not encoded.
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

/** Only texts are filled in. */
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
  return renderText(template, () => "x").text;
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
