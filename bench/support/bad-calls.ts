/** Generated calls that are wrong in every way there is: of REST, of MCP in both eras, and of lines on stdio. */
import fc from "fast-check";
import type { Dispatcher } from "undici";
import { builtTools } from "../../src/cli/built-tools.ts";
import { operationsOf } from "../../src/platform/index.ts";
import { catalogue } from "../../tools/index.ts";
import { mcpRequest, modernMeta } from "./mcp-request.ts";

/** The key of the service that is called. */
export const key = `sk_live_${"f".repeat(43)}`;

/** A route of the service, now and then with another method, with a path, a query, headers and a body of anything. */
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
      path: `${path.replace(/\{\w+\}/g, encodeURIComponent(segment.toWellFormed()))}?${new URLSearchParams({ ...(waits ? unwaiting : {}), ...query })}`,
      headers,
      ...(method === "GET" ? {} : { body }),
    }));
}

/** What a call that would wait is given, so that one which is right by chance is answered at once. */
const unwaiting = { timeout_seconds: "0" };

function restHeaders(): fc.Arbitrary<Record<string, string>> {
  const usual = { "x-api-key": key, "content-type": "application/json" };
  const odd: Record<string, string>[] = [
    { "content-type": "application/json" },
    { "x-api-key": "sk_live_wrong", "content-type": "application/json" },
    { authorization: "Bearer nonsense", "content-type": "application/json" },
    { "x-api-key": key, "content-type": "text/plain" },
    { "x-api-key": key, "content-type": "multipart/form-data; boundary=x" },
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
      // Most agree with the headers, as the protocol wants it, so that they get past its first checks.
      const whole = { ...message, params: odd === 1 ? params : { ...params, _meta: modernMeta } };
      const headers = {
        "mcp-protocol-version": version,
        "mcp-method": odd === 2 ? "tools/list" : headerOf(method),
        "mcp-name": odd === 3 ? "nobody" : headerOf(params.name),
      };
      return mcpRequest(key, headers, odd === 0 ? body : JSON.stringify(whole));
    });
}

export function legacyCalls(): fc.Arbitrary<Dispatcher.RequestOptions> {
  return fc
    .record({ message: messages(), body: bodies(), version: versions("2025-11-25"), odd: fc.nat(9) })
    .map(({ message, body, version, odd }) =>
      mcpRequest(key, { "mcp-protocol-version": version }, odd === 0 ? body : JSON.stringify(message)),
    );
}

/** What a header can carry of any value. */
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

/** Mostly calls of known tools with arguments of anything; the rest is wrong about the protocol. */
function messages(): fc.Arbitrary<Message> {
  const call = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.nat(),
    method: fc.constant("tools/call"),
    params: fc
      .record({ name: fc.constantFrom(...builtTools), arguments: toolArguments() })
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
  const { name, arguments: given } = params;
  const waits = Object.entries(catalogue).some(([operation, { waits }]) => waits && operation === name);
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  return waits && isObject ? { name, arguments: { timeout_seconds: 0, ...given } } : params;
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

/** Texts that have broken others: NUL, lone surrogates, what a database or a path reads specially. */
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

/** JSON of anything, broken JSON, and none at all. */
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

export interface Line {
  readonly text: string;
  /** The answer that it must have; undefined for what needs none. */
  readonly id: string | undefined;
}

/** Lines for stdin: messages with an id of their own, and what is no message. */
export function lines(): fc.Arbitrary<Line> {
  let next = 0;
  const asked = messages().map((message) => {
    next += 1;
    const id = `line ${next}`;
    // Without the right version it is no request, and nothing is owed to it.
    const isOwed = message.jsonrpc === "2.0" && message.method !== "";
    return { text: JSON.stringify({ ...message, id }), id: isOwed ? id : undefined };
  });
  const other = bodies().map((text) => ({ text: text.replaceAll("\n", " "), id: undefined }));
  return fc.oneof({ weight: 5, arbitrary: asked }, other);
}
