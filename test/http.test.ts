/** The REST transport: one envelope for every failure, request ids, health. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { handleClientError } from "../src/http/server.ts";
import { errors } from "../tools/errors.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { sendRaw } from "./support/raw-request.ts";

const app = useTestApp();

test("every response has a request id; the caller's own is kept", async () => {
  const answer = await app.fetch("/v1/contacts");
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  const named = await app.fetch("/v1/contacts", { headers: { "x-request-id": "trace-1" } });
  expect(named.headers.get("x-request-id")).toBe("trace-1");
});

test.each([
  [
    "GET",
    "/v1/messages/msg_1",
    ["GET /v1/messages/{id}/history", "GET /v1/conversations/{conversation_id}/messages/{message_id}"],
  ],
  ["GET", "/v1/contact", ["GET /v1/contacts", "POST /v1/contacts", "PUT /v1/contacts"]],
  [
    "GET",
    "/v1/conversations/conv_1/messages",
    [
      "GET /v1/messages",
      "GET /v1/conversations/{conversation_id}/messages/{message_id}",
      "POST /v1/messages",
    ],
  ],
  ["GET", "/v1/automation/flows/flow_1/runs", ["GET /v1/automation/runs"]],
  ["GET", "/v1/nothing", undefined],
  ["GET", "/nothing", undefined],
])("%s %s, which does not exist, names near routes: %j", async (method, path, suggestions) => {
  const answer = await app.fetch(path, { method });
  const { error } = (await answer.json()) as { error: { code: string; suggestions?: string[] } };
  expect([error.code, error.suggestions]).toEqual(["route_not_found", suggestions]);
});

test.each([
  ["an unknown path", "/v1/nothing", { method: "GET" }, 404, "route_not_found"],
  ["another method", "/v1/contacts", { method: "PATCH", json: {} }, 405, "method_not_allowed"],
  ["broken JSON", "/v1/contacts", post('{"phone_number":'), 400, "malformed_body"],
  ["a list as the body", "/v1/contacts", post("[]"), 400, "malformed_body"],
  ["a poisoned prototype", "/v1/contacts", post('{"__proto__":{"a":1}}'), 400, "malformed_body"],
  [
    "another content type",
    "/v1/contacts",
    post("a=1", "application/x-www-form-urlencoded"),
    415,
    "unsupported_media_type",
  ],
  [
    "a large body",
    "/v1/contacts",
    post(JSON.stringify({ name: "x".repeat(1_100_000) })),
    413,
    "body_too_large",
  ],
  [
    "a zero byte",
    "/v1/contacts",
    post('{"phone_number":"+14155550182","name":"a\\u0000b"}'),
    400,
    "unstorable_text",
  ],
  [
    "half a character",
    "/v1/contacts",
    post('{"phone_number":"+14155550182","metadata":{"a":"\\ud800"}}'),
    400,
    "unstorable_text",
  ],
  ["a zero byte in a search", "/v1/contacts?search=%00", {}, 400, "unstorable_text"],
  ["an invalid page", "/v1/contacts?page=0", {}, 400, "invalid_request"],
] as const)("%s is answered in the envelope", async (_, path, options, status, code) => {
  const answer = await app.fetch(path, options);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(answer.headers.get("ratelimit-limit")).toBe("100000");
  const { type, message, fix } = errors[code];
  const request_id = answer.headers.get("x-request-id");
  expect(await answer.json()).toMatchObject({
    error: { code, type, message: filled(message), fix: filled(fix), request_id },
  });
});

/** Matches a text of the error table up to its first placeholder. */
function filled(template: string) {
  return expect.stringContaining(template.split("{")[0] ?? "");
}

test.each([
  ["/v1/contacts/%zz", 400, "malformed_request"],
  [`/v1/contacts/${"x".repeat(500)}`, 400, "invalid_request"],
])("%s is answered in the envelope", async (path, status, code) => {
  const answer = await app.fetch(path);
  expect(answer.status).toBe(status);
  const request_id = answer.headers.get("x-request-id");
  expect(await answer.json()).toMatchObject({ error: { code, request_id } });
});

test("a deeply nested value is rejected without a stack overflow", async () => {
  const depth = 5_000;
  const body = `{"phone_number":"+14155550183","metadata":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  const answer = await app.fetch("/v1/contacts", post(body));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "nested_too_deeply" } });
});

test("a key is accepted in X-API-Key and as Bearer", async () => {
  const key = "sk_live_unknown";
  const answer = await app.fetch("/v1/contacts", {
    key: null,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await answer.json()).toMatchObject({ error: { code: "credential_invalid" } });
});

test.each(["sk_live_unknown", "Basic abc", "Bearer", "Bearer sk_live one"])(
  "Authorization: %s is answered 401 with both correct headers",
  async (authorization) => {
    const answer = await app.fetch("/v1/contacts", { key: null, headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({
      error: {
        code: "credential_malformed",
        message: "The header Authorization does not have the form of a credential.",
        fix: "Send X-API-Key: <key>, or Authorization: Bearer <key or access token>.",
      },
    });
  },
);

test("X-API-Key with a scheme is answered 401 with both correct headers", async () => {
  const headers = { "x-api-key": "Bearer sk_live_unknown" };
  const answer = await app.fetch("/v1/contacts", { key: null, headers });
  expect(answer.status).toBe(401);
  const { error } = (await answer.json()) as { error: object };
  expect(error).toMatchObject({
    code: "credential_malformed",
    message: "The header X-API-Key does not have the form of a credential.",
  });
});

test("unknown fields of a body or a query are ignored, and the answer names them", async () => {
  const json = { phone_number: "+14155550181", tagz: ["vip"], nam: "Ada" };
  const created = await app.fetch("/v1/contacts", { method: "POST", json });
  expect(created.status).toBe(201);
  const unknown = (field: string) => ({
    field,
    code: "unknown_argument",
    message: `Unknown argument: ${field}.`,
  });
  const body = await created.json();
  expect(body).toMatchObject({ data: { name: null } });
  expect((body as { warnings: unknown }).warnings).toEqual([
    { ...unknown("tagz"), fix: "Did you mean tags?", suggestions: ["tags"] },
    { ...unknown("nam"), fix: "Did you mean name?", suggestions: ["name"] },
  ]);
  const listed = await app.fetch("/v1/contacts?serch=Ada&per_page=1");
  expect(await listed.json()).toMatchObject({
    meta: { per_page: 1 },
    warnings: [{ ...unknown("serch"), fix: "Did you mean search?", suggestions: ["search"] }],
  });
  expect(await (await app.fetch("/v1/contacts?search=Ada")).json()).not.toHaveProperty("warnings");
  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`field_${index}`.repeat(20), 1]),
  );
  const large = await app.fetch("/v1/contacts", {
    method: "POST",
    json: { ...many, phone_number: "+14155550182" },
  });
  expect((await large.text()).length).toBeLessThan(20_000);
});

test("a response contains only the fields that the contract names", async () => {
  await app.fetch("/v1/contacts", { method: "POST", json: { phone_number: "+14155550183" } });
  const { data } = (await (await app.fetch("/v1/contacts")).json()) as { data: object[] };
  expect(Object.keys(data[0] ?? {}).sort()).toEqual([
    "blocked",
    "created_at",
    "id",
    "name",
    "opted_out",
    "phone_number",
    "tags",
    "updated_at",
  ]);
});

test.each([
  ["/healthz", "ok"],
  ["/drainz", "ok"],
  ["/readyz", "ready"],
])("%s needs no credential, and answers HEAD too", async (path, status) => {
  expect(await (await app.fetch(path, { key: null })).json()).toEqual({ status });
  const head = await app.fetch(path, { method: "HEAD", key: null });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("headers that are too large are answered 431 in the envelope", async () => {
  const { status, body } = await sendRaw(
    app.address,
    `GET /v1/contacts HTTP/1.1\r\nHost: localhost\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`,
  );
  expect([status, JSON.parse(body)]).toMatchObject([431, { error: { code: "headers_too_large" } }]);
});

test("a request that does not arrive in time is answered 408 in the envelope, and its connection is closed", async () => {
  const options = { requestTimeout: 1, headersTimeout: 1, connectionsCheckingInterval: 1 };
  const server = createServer(options).on("clientError", handleClientError).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { status, body } = await sendRaw(`http://127.0.0.1:${port}`, "GET / HTTP/1.1\r\n");
  expect([status, JSON.parse(body)]).toMatchObject([408, { error: { code: "request_too_slow" } }]);
  // Also if the client does not close its side.
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
  await once(socket.resume(), "end");
  await once(server.close(), "close");
  socket.destroy();
});

test("the simulator's controls require the scopes of the data they read and change", async () => {
  const json = { name: "reader", scopes: ["contacts:read"] };
  const created = await app.fetch("/v1/api-keys", { method: "POST", json });
  const { data } = (await created.json()) as { data: { secret_key: string } };
  const key = data.secret_key;
  const read = await app.fetch("/simulator/phones/+14155550181/messages", { key });
  const write = await app.fetch("/simulator/faults", { method: "PUT", json: {}, key });
  expect([read.status, write.status]).toEqual([403, 403]);
  expect(await write.json()).toMatchObject({ error: { required_scope: "inbox:write" } });
});

function post(body: string, type = "application/json") {
  return { method: "POST", body, headers: { "content-type": type } };
}

/** Sends like urllib and many proxies: reads nothing before the whole body is sent. */
function sendWhole(path: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(app.address).port), "127.0.0.1").pause();
    const lines = Object.entries({ host: "a", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.once("error", reject);
    socket.once("data", (chunk) => resolve(Number(chunk.toString("latin1").split(" ")[1])));
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    socket.write(body, () => socket.resume());
  });
}

const formType = "multipart/form-data; boundary=x";

test.each([
  ["a body too large for its route", "/v1/contacts", ownerKey, "application/json", 413],
  ["a form with an unknown key", "/v1/uploads", "sk_live_unknown", formType, 401],
  ["a file of an unknown type", "/v1/uploads", ownerKey, formType, 415],
])("a rejection reaches a client that is still sending: %s", async (...row) => {
  const [, path, key, type, status] = row;
  const body = Buffer.alloc(20_000_000, "x");
  body.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\n');
  const headers = { "x-api-key": key, "content-type": type, "content-length": String(body.length) };
  expect(await sendWhole(path, { ...headers, connection: "close" }, body)).toBe(status);
  expect(await sendWhole(path, headers, body)).toBe(status);
});
