/**
 * Generates invalid calls of REST and of MCP over HTTP in both protocols, and invalid lines for MCP on stdio.
 */
import fc from "fast-check";
import type { Dispatcher } from "undici";
import { embeddedTools } from "../../src/cli/embedded-tools.ts";
import { operationsOf } from "../../src/platform/index.ts";
import { catalogue } from "../../tools/index.ts";
import { mcpRequest, modernMeta } from "./mcp-request.ts";

/** The API key of the service under test. */
export const fuzzKey = `sk_live_${"f".repeat(43)}`;

/**
 * Requests to the service's routes with arbitrary paths, queries, headers and bodies, some with a wrong
 * method.
 */
export function restCalls(): fc.Arbitrary<Dispatcher.RequestOptions> {
  const built = Object.values(operationsOf());
  const routes = built.flatMap(({ method, path, also, waits }) =>
    [path, ...also.map((other) => other.path)].map((each) => ({ method, path: each, waits })),
  );
  return fc
    .record({
      route: fc.constantFrom(...routes),
      segment: fc.oneof(fc.uuid(), texts()),
      query: fc.dictionary(fc.oneof(fieldNames(), texts()), texts(), { maxKeys: 4 }),
      body: bodies(),
      headers: restHeaders(),
      isOther: fc.nat(20),
    })
    .map(({ route: { method, path, waits }, segment, query, body, headers, isOther }) => ({
      method: isOther === 0 ? "PATCH" : method,
      path: `${path.replace(/\{\w+\}/g, encodeURIComponent(segment.toWellFormed()))}?${new URLSearchParams({ ...(waits ? withoutWait : {}), ...query })}`,
      headers,
      ...(method === "GET" ? {} : { body }),
    }));
}

/** Added to operations that wait, so that a call that happens to be valid returns at once. */
const withoutWait = { timeout_seconds: "0" };

function restHeaders(): fc.Arbitrary<Record<string, string>> {
  const usual = { "x-api-key": fuzzKey, "content-type": "application/json" };
  const odd: Record<string, string>[] = [
    { "content-type": "application/json" },
    { "x-api-key": "sk_live_wrong", "content-type": "application/json" },
    { authorization: "Bearer nonsense", "content-type": "application/json" },
    { "x-api-key": fuzzKey, "content-type": "text/plain" },
    { "x-api-key": fuzzKey, "content-type": "multipart/form-data; boundary=x" },
    { ...usual, "idempotency-key": "same" },
    { ...usual, "idempotency-key": " ".repeat(300) },
    { ...usual, "x-request-id": "r".repeat(2_000) },
  ];
  return fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, fc.constantFrom(...odd));
}

export function modernCalls(): fc.Arbitrary<Dispatcher.RequestOptions> {
  return fc
    .record({ message: messages(), body: bodies(), version: versions("2026-07-28"), odd: fc.nat(9) })
    .map(({ message, body, version, odd }) => {
      const { method, params } = message;
      // Most messages match their headers, as the protocol requires, so that they pass its first checks.
      const whole = { ...message, params: odd === 1 ? params : { ...params, _meta: modernMeta } };
      const headers = {
        "mcp-protocol-version": version,
        "mcp-method": odd === 2 ? "tools/list" : headerOf(method),
        "mcp-name": odd === 3 ? "unknown_tool" : headerOf(params.name),
      };
      return mcpRequest(fuzzKey, headers, odd === 0 ? body : JSON.stringify(whole));
    });
}

export function legacyCalls(): fc.Arbitrary<Dispatcher.RequestOptions> {
  return fc
    .record({ message: messages(), body: bodies(), version: versions("2025-11-25"), odd: fc.nat(9) })
    .map(({ message, body, version, odd }) =>
      mcpRequest(fuzzKey, { "mcp-protocol-version": version }, odd === 0 ? body : JSON.stringify(message)),
    );
}

/** The value with invalid header characters replaced. */
function headerOf(value: unknown): string {
  return String(value).replace(/[^!-~]/g, "?");
}

function versions(usual: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.constant(usual) },
    fc.constantFrom("1999-01-01", "", "2026-07-28", "x"),
  );
}

interface Message {
  readonly jsonrpc: unknown;
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Mostly calls of known tools with arbitrary arguments. The remaining messages violate the protocol. */
function messages(): fc.Arbitrary<Message> {
  const call = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.nat(),
    method: fc.constant("tools/call"),
    params: fc
      .record({ name: fc.constantFrom(...embeddedTools), arguments: toolArguments() })
      .map(withoutWaiting),
  });
  const odd = fc.record({
    jsonrpc: fc.constantFrom("2.0", "1.0", 2, null),
    id: fc.oneof(fc.nat(), texts(), fc.constantFrom(null, -1, 1.5, true)),
    method: fc.oneof(fc.constantFrom("tools/list", "tools/call", "ping", "server/discover"), texts()),
    params: fc.dictionary(fc.constantFrom("name", "arguments", "cursor", "_meta", "x"), values(), {
      maxKeys: 4,
    }),
  });
  return fc.oneof({ weight: 4, arbitrary: call }, odd);
}

function withoutWaiting(params: { name: string; arguments: unknown }) {
  const { name, arguments: input } = params;
  const waits = Object.entries(catalogue).some(([operation, { waits }]) => waits && operation === name);
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return waits && isObject ? { name, arguments: { timeout_seconds: 0, ...input } } : params;
}

function toolArguments(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.dictionary(fieldNames(), values(), { maxKeys: 6 }) },
    fc.jsonValue({ maxDepth: 3 }),
  );
}

function fieldNames(): fc.Arbitrary<string> {
  const known = Object.values(catalogue).flatMap(({ input }) => Object.keys(input.shape));
  return fc.constantFrom(...new Set(known), "__proto__", "constructor", "");
}

function values(): fc.Arbitrary<unknown> {
  return fc.oneof(texts(), fc.uuid(), fc.integer(), fc.double(), fc.jsonValue({ maxDepth: 3 }));
}

/** Texts that often cause defects: NUL, lone surrogates, special characters of databases and paths. */
function texts(): fc.Arbitrary<string> {
  const known = [
    "\0",
    "a\0b",
    "\ud800",
    "'; drop table contacts; --",
    "%",
    "\\",
    "../../etc/passwd",
    "+14155550123",
    "2026-02-30T00:00:00Z",
    "9".repeat(400),
    "NaN",
    "{}",
    "[]",
    "null",
    "\u202e",
    "a".repeat(70_000),
    "-1",
  ];
  return fc.oneof(fc.constantFrom(...known), fc.string({ unit: "binary" }), fc.string());
}

/** Arbitrary JSON, invalid JSON, and empty bodies. */
function bodies(): fc.Arbitrary<string> {
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const broken = [
    "",
    "{",
    "nul",
    '{"a":1,}',
    '"\\ud800"',
    '{"__proto__":{"a":1}}',
    "\ufeff{}",
    "\0",
    deep,
    "1e999",
  ];
  const record = fc.dictionary(fieldNames(), values(), { maxKeys: 6 });
  return fc.oneof(
    { weight: 6, arbitrary: record.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.json() },
    fc.constantFrom(...broken),
  );
}

export interface StdioLine {
  readonly text: string;
  /** The id that must be answered; undefined if no answer is required. */
  readonly id: string | undefined;
}

/** Lines for stdin: messages with a unique id, and lines that are not messages. */
export function stdioLines(): fc.Arbitrary<StdioLine> {
  let next = 0;
  const requests = messages().map((message) => {
    next += 1;
    const id = `line ${next}`;
    // Without the right version, the line is no request and needs no answer.
    const needsAnswer = message.jsonrpc === "2.0" && message.method !== "";
    return { text: JSON.stringify({ ...message, id }), id: needsAnswer ? id : undefined };
  });
  const other = bodies().map((text) => ({ text: text.replaceAll("\n", " "), id: undefined }));
  return fc.oneof({ weight: 5, arbitrary: requests }, other);
}
