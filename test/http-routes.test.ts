/** Routes that are not operations: credentials, bodies in and out, limits, and errors. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { NoFreePlaceError } from "../src/database/sharing/fair-queue.ts";
import { implement, type ModuleRoute } from "../src/platform/foundation/kernel/module.ts";
import { modules } from "../src/platform/index.ts";
import { fail } from "../tools/errors.ts";
import { useTestApp } from "./support/app.ts";

const maxBodyBytes = 1_000;

const routes: readonly ModuleRoute[] = [
  {
    methods: ["POST"],
    path: "/scripted/webhook",
    credential: "none",
    body: "raw",
    maxBodyBytes,
    isRateLimited: false,
    handle: async ({ headers, body }) => {
      const isValid = headers["x-signature"] === sign(body);
      return { status: isValid ? 200 : 401, body: { bytes: [...body] } };
    },
  },
  {
    methods: ["GET"],
    path: "/scripted/webhook",
    credential: "none",
    body: "none",
    handle: async ({ query }) => ({ status: 200, body: String(query["hub.challenge"]) }),
  },
  {
    methods: ["PUT"],
    path: "/scripted/{name}/json",
    credential: "any",
    scope: "inbox:write",
    body: "json",
    handle: async ({ organization_id, params, body }, world) => ({
      status: 201,
      body: { organization_id, params, received: body, at: world.now().toISOString() },
    }),
  },
  {
    methods: ["GET", "HEAD"],
    path: "/scripted/page",
    credential: "none",
    body: "none",
    handle: async ({ isHead }) => ({
      status: 200,
      headers: { "content-type": "text/html; charset=utf-8", "x-is-head": String(isHead) },
      body: "<p>Olá</p>",
    }),
  },
  {
    methods: ["GET"],
    path: "/scripted/stream",
    credential: "none",
    body: "none",
    handle: async () => ({ status: 200, headers: { "content-type": "audio/ogg" }, body: countTo(300) }),
  },
  {
    methods: ["DELETE"],
    path: "/scripted/page",
    credential: "none",
    body: "none",
    async handle() {
      throw fail("file_not_found");
    },
  },
  {
    methods: ["GET"],
    path: "/scripted/busy",
    credential: "none",
    body: "none",
    async handle() {
      throw new NoFreePlaceError("No connection");
    },
  },
];

function sign(body: Uint8Array): string {
  return createHmac("sha256", "secret").update(body).digest("hex");
}

async function* countTo(end: number) {
  for (let count = 0; count < end; count += 100) {
    yield Uint8Array.from({ length: 100 }, (_, index) => count + index);
  }
}

const scripted = implement({}, { operations: {}, routes });
const app = useTestApp({ enabledModules: { ...modules, scripted } });

describe("a raw body", () => {
  const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

  test.each([
    ["JSON", "application/json", Buffer.from('{ "a": 1,\r\n "a":2 }\n')],
    ["no JSON despite its type", "application/json; charset=utf-8", Buffer.from('{"a":')],
    ["a form", "application/x-www-form-urlencoded", Buffer.from("a=%20b+c")],
    ["every byte", "application/octet-stream", everyByte],
    ["nothing", "text/plain", new Uint8Array()],
  ])("of %s arrives byte for byte", async (_, type, body) => {
    const headers = { "content-type": type, "X-Signature": sign(body) };
    const answer = await app.fetch("/scripted/webhook", { method: "POST", key: null, headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, { bytes: [...body] }]);
  });

  test("arrives without a content type", async () => {
    const headers = { "x-signature": sign(everyByte) };
    const answer = await app.fetch("/scripted/webhook", {
      method: "POST",
      key: null,
      headers,
      body: everyByte,
    });
    expect([answer.status, await answer.json()]).toEqual([200, { bytes: [...everyByte] }]);
  });

  test.each([
    ["announced", (body: Uint8Array<ArrayBuffer>) => body],
    ["not announced", (body: Uint8Array<ArrayBuffer>) => new Blob([body]).stream()],
  ])("over the limit of its route is rejected when its length is %s", async (_, toBody) => {
    const post = (length: number) =>
      app.fetch("/scripted/webhook", {
        method: "POST",
        key: null,
        body: toBody(new Uint8Array(length)),
        duplex: "half",
      });
    expect((await post(maxBodyBytes)).status).toBe(401);
    const rejected = await post(maxBodyBytes + 1);
    expect([rejected.status, await rejected.json()]).toMatchObject([
      413,
      { error: { code: "body_too_large", message: expect.stringContaining(`${maxBodyBytes} bytes`) } },
    ]);
  });
});

describe("an answer", () => {
  test("of a busy database is 503 with Retry-After", async () => {
    const { status, headers } = await app.fetch("/scripted/busy", { key: null });
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("may be plain text", async () => {
    const answer = await app.fetch("/scripted/webhook?hub.mode=subscribe&hub.challenge=1158", { key: null });
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toBe("1158");
  });

  test("may be a page; HEAD has its headers and no body", async () => {
    const [page, head] = await Promise.all(
      ["GET", "HEAD"].map((method) => app.fetch("/scripted/page", { method, key: null })),
    );
    const headersOf = (answer: Response | undefined) =>
      ["content-type", "content-length", "x-is-head"].map((name) => answer?.headers.get(name));
    expect(headersOf(page)).toEqual(["text/html; charset=utf-8", "11", "false"]);
    expect(headersOf(head)).toEqual(["text/html; charset=utf-8", "11", "true"]);
    expect([await page?.text(), await head?.text()]).toEqual(["<p>Olá</p>", ""]);
  });

  test("may be a stream of bytes", async () => {
    const answer = await app.fetch("/scripted/stream", { key: null });
    expect(answer.headers.get("content-type")).toBe("audio/ogg");
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect(bytes).toEqual(Uint8Array.from({ length: 300 }, (_, index) => index));
  });

  test("may be an error of the catalogue", async () => {
    const answer = await app.fetch("/scripted/page", { method: "DELETE", key: null });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "file_not_found" } }]);
  });
});

describe("a route with a credential", () => {
  const path = "/scripted/a%20b/json";

  test("gets the organization of the credential, the JSON body and the world", async () => {
    const answer = await app.fetch(path, { method: "PUT", json: { a: [1] } });
    const { organization_id } = await app.server.database.queries
      .selectFrom("api_keys")
      .select("organization_id")
      .executeTakeFirstOrThrow();
    expect([answer.status, await answer.json()]).toEqual([
      201,
      { organization_id, params: { name: "a b" }, received: { a: [1] }, at: app.now().toISOString() },
    ]);
  });

  test("rejects a missing or unknown credential, and names the scope that a credential does not hold", async () => {
    const json = { name: "reader", scopes: ["inbox:read"] };
    const created = await app.fetch("/v1/api-keys", { method: "POST", json });
    const { data } = (await created.json()) as { data: { secret_key: string } };
    const failures: unknown[] = [];
    for (const key of [null, "sk_live_unknown", data.secret_key]) {
      const answer = await app.fetch(path, { method: "PUT", json: {}, key });
      failures.push([answer.status, await answer.json()]);
    }
    expect(failures).toMatchObject([
      [401, { error: { code: "credential_missing" } }],
      [401, { error: { code: "credential_invalid" } }],
      [403, { error: { code: "insufficient_scope", required_scopes: ["inbox:write"] } }],
    ]);
  });

  test("rejects broken JSON and other content types", async () => {
    const post = (type: string) =>
      app.fetch(path, { method: "PUT", headers: { "content-type": type }, body: "{" });
    const answers = [await post("application/json"), await post("text/plain")];
    expect(answers.map(({ status }) => status)).toEqual([400, 415]);
  });
});

test("a route counts against the rate limit unless it is exempt", async () => {
  const counted = await app.fetch("/scripted/webhook", { key: null });
  const exempt = await app.fetch("/scripted/webhook", { method: "POST", key: null });
  const limits = [counted, exempt].map(({ headers }) => headers.get("ratelimit-limit"));
  expect(limits).toEqual(["100000", null]);
});

test("another method of a route's path is not found", async () => {
  const answer = await app.fetch("/scripted/stream", { method: "POST", json: {} });
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "route_not_found" } }]);
});
