/**
 * Requests that no HTTP client sends are the caller's mistake on every kind of route: none
 * is answered with 5xx.
 */
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { ownerKey, useTestApp } from "./support/app.ts";
import { type RawAnswer, sendRaw } from "./support/raw-request.ts";

const app = useTestApp();

interface Target {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const key = `X-API-Key: ${ownerKey}`;
const json = "Content-Type: application/json";
const form = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--x--\r\n';

/** One route of each kind: an operation, a public one, an upload, a file, the simulator and MCP. */
const targets: readonly Target[] = [
  { line: "POST /v1/contacts", headers: [key], body: '{"phone_number":"+14155550123"}' },
  { line: "POST /v1/auth/login", headers: [], body: '{"email":"a","password":"b"}' },
  { line: "POST /v1/uploads", headers: [key], body: form },
  { line: "GET /files/org_x/name", headers: [], body: "" },
  { line: "POST /simulator/inbound", headers: [key], body: '{"from":"+14155550123","text":"hi"}' },
  {
    line: "POST /mcp",
    headers: [key, "Accept: application/json, text/event-stream"],
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  },
];

function send({ line, headers, body }: Target) {
  const names = headers.map((header) => header.split(":")[0]?.toLowerCase());
  const all = [
    ...(names.includes("host") ? [] : ["Host: localhost"]),
    ...headers,
    ...(names.includes("content-length") || names.includes("transfer-encoding")
      ? []
      : [`Content-Length: ${body.length}`]),
  ];
  return sendRaw(app.address, `${line} HTTP/1.1\r\n${all.map((one) => `${one}\r\n`).join("")}\r\n${body}`);
}

/** An answer of the service, whose errors have the id of the request in the header and in the body. */
function expectAnswer({ status, headers, body }: RawAnswer, line: string): void {
  expect(status, line).toBeLessThan(500);
  const isError = status >= 400 && !body.includes('"jsonrpc"');
  expect(isError ? JSON.parse(body).error.request_id : headers["x-request-id"], line).toBe(
    headers["x-request-id"] ?? "none",
  );
}

/** Longer than the 256 characters that the parser can search for. */
const longBoundary = `Content-Type: multipart/form-data; boundary=${"x".repeat(300)}`;

test.each<[string, readonly string[]]>([
  ["a boundary of 300 characters", [longBoundary]],
  ["no boundary", ["Content-Type: multipart/form-data"]],
  ["an empty boundary", ["Content-Type: multipart/form-data; boundary="]],
  ["a boundary that is not ASCII", ["Content-Type: multipart/form-data; boundary=\xff\xfe"]],
  ["another multipart type", ["Content-Type: multipart/mixed; boundary=x"]],
  ["an empty content type", ["Content-Type: "]],
  ["a content type without a name", ["Content-Type: /;;="]],
  ["a content type named like a property", ["Content-Type: __proto__"]],
  ["two content types", [json, "Content-Type: multipart/form-data; boundary=x"]],
  ["a user name in the host", ["Host: user@localhost", json]],
  ["a port that does not exist", ["Host: localhost:99999", json]],
  ["a path in the host", ["Host: localhost/../x", json]],
  ["a host that is not closed", ["Host: [::1", json]],
  ["a host that is not ASCII", ["Host: \xff%", json]],
  ["two hosts", ["Host: localhost", "Host: other.example", json]],
  ["two lengths", [json, "Content-Length: 3", "Content-Length: 4"]],
  ["a negative length", [json, "Content-Length: -1"]],
  ["a length and chunks", [json, "Transfer-Encoding: chunked", "Content-Length: 3"]],
  ["an unknown transfer encoding", [json, "Transfer-Encoding: xchunked"]],
  ["chunks in chunks", [json, "Transfer-Encoding: chunked, chunked"]],
  ["a compressed body", [json, "Content-Encoding: gzip"]],
  ["an unknown expectation", [json, "Expect: 200-ok"]],
  ["an upgrade", [json, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA"]],
  ["two idempotency keys that are not ASCII", [json, "Idempotency-Key: \xff", "Idempotency-Key: \xfe"]],
  ["a token that is not one", [json, "X-API-Key:", "Authorization: Bearer \xff.\xfe.\xfd"]],
  ["a trace that is not one", [json, "Traceparent: 00-zz-\xff-01"]],
  ["an origin that is not one", [json, "Origin: \xff://x"]],
  ["a range that is not one", [json, "Range: bytes=9-1,3-"]],
  ["headers named like properties", [json, "__proto__: x", "constructor: y"]],
  ["a control character", [json, "X-Control: a\x01b"]],
  ["a header without a name", [json, ": x"]],
])("%s is not answered with 5xx on any route", async (_, headers) => {
  for (const target of targets) {
    expectAnswer(await send({ ...target, headers: [...target.headers, ...headers] }), target.line);
  }
});

test("a request without a host is rejected on every route", async () => {
  for (const { line } of targets) {
    const answer = await sendRaw(app.address, `${line} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`);
    expect(answer.status).toBe(400);
    expectAnswer(answer, line);
  }
});

test.each([
  ["a null", "null"],
  ["a cut object", "{"],
  ["bytes that are not UTF-8", "\xff\xfe"],
  ["a list nested 4000 deep", "[".repeat(4_000) + "]".repeat(4_000)],
  ["a field nested 3500 deep", `{"email":${"[".repeat(3_500)}${"]".repeat(3_500)},"password":"x","from":1}`],
  [
    "objects that can't be converted to text",
    '{"email":{"toString":1},"from":{"toString":1},"to":{"valueOf":1}}',
  ],
  ["a number without end", '{"email":1e999,"phone_number":1e999,"from":1e999,"id":1e999}'],
  ["members named like properties", '{"constructor":{"name":1},"hasOwnProperty":1,"length":1e9}'],
])("%s is not answered with 5xx on any route", async (_, body) => {
  for (const target of targets) {
    expectAnswer(await send({ ...target, headers: [...target.headers, json], body }), target.line);
  }
});

test.each([
  "/v1/contacts/%ff",
  "/v1/contacts/%00",
  "/v1/contacts?search=%ff",
  "/v1/contacts?__proto__=1&page[]=1",
  "/v1/contacts?page=99999999999999999999",
  "/v1/contacts?page=2147483647&per_page=100",
  "/v1/contacts?search=a&search=b",
  "/v1/events?after=999999999999999999:999999999999999999:",
  "/files/%00/%ff",
  "/files/a/b?expires=1&expires=2&signature=%00",
  "/simulator/phones/%00/messages?limit=1e400",
  "/mcp?%",
  "//",
  "http://user@localhost/mcp",
  "*",
])("the address %s is not answered with 5xx by any method", async (path) => {
  for (const method of ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]) {
    const { status } = await send({ line: `${method} ${path}`, headers: [key, json], body: "" });
    expect(status, method).toBeLessThan(500);
  }
});

test.each([
  ["POST /webhooks/whatsapp/%00/%00", "{}"],
  ["GET /webhooks/whatsapp/%00/%00", ""],
  ["POST /console/login", '{"email":"a\\u0000@example.com","password":"b"}'],
  ["PUT /v1/events/presence", '{"conversation_id":"x\\u0000"}'],
  ["POST /simulator/payments/%00/pay", ""],
  ["GET /v1/broadcasts/%00/recipients.csv", ""],
  ["GET /v1/activity.csv?by=%00", ""],
])("a zero byte in %s %s is named", async (line, body) => {
  const answer = await send({ line, headers: [key, json, "Origin: http://localhost"], body });
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
    400,
    { error: { code: "unstorable_text" } },
  ]);
});

const disposition = "Content-Disposition: form-data; ";

test.each<[string, readonly string[]]>([
  ["no header", []],
  ["a header without a value", ["Content-Disposition"]],
  ["a name that is a property", [`${disposition}name="__proto__"`]],
  ["an unknown charset in the name", [`${disposition}name="file"; filename*=xyz''a.txt`]],
  ["a malformed escape in the name", [`${disposition}name="file"; filename*=utf-8''%ff.txt`]],
  ["an unknown charset", [`${disposition}name="url"`, "Content-Type: text/plain; charset=xyz"]],
  ["a field of JSON that is none", [`${disposition}name="url"`, "Content-Type: application/json"]],
  ["an unknown encoding", [`${disposition}name="file"; filename="a.txt"`, "Content-Transfer-Encoding: xyz"]],
  ["a long header", [`${disposition}name="file"; filename="a.txt"`, `X: ${"x".repeat(100_000)}`]],
])("a part with %s is not answered with 5xx", async (_, headers) => {
  const multipart = [key, "Content-Type: multipart/form-data; boundary=x"];
  for (const end of ["--x--\r\n", "--x\r\n", ""]) {
    const body = `--x\r\n${headers.join("\r\n")}\r\n\r\nhello\r\n${end}`;
    const { status } = await send({ line: "POST /v1/uploads", headers: multipart, body });
    expect(status, end).toBeLessThan(500);
  }
});

describe("the answer says what is wrong", () => {
  test("for a boundary that is too long", async () => {
    const { status, body } = await send({
      line: "POST /v1/uploads",
      headers: [key, longBoundary],
      body: form,
    });
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: "malformed_form", message: expect.stringContaining("256"), param: "Content-Type" },
    });
  });

  test("for a user name in the host of an MCP request", async () => {
    const headers = [key, json, "Host: user@localhost"];
    const { status, body } = await send({ line: "POST /mcp", headers, body: "{}" });
    expect(status).toBe(403);
    expect(body).toContain("The Host header names a host that this server does not accept.");
  });
});

const limited = useTestApp({ env: { TIDINGS_RATE_LIMIT: "5", TIDINGS_RATE_BURST: "8" } });

test("an address over its limit loses its connection, with the requests that wait in it", async () => {
  const request = "GET /v1/unknown HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const socket = connect(Number(new URL(limited.address).port), "127.0.0.1");
  socket.write(request.repeat(20_000));
  const answers = await socket.toArray().catch(() => []);
  expect(Buffer.concat(answers).toString().split("HTTP/1.1 ").length).toBeLessThan(100);
});
