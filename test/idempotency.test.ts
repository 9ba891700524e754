/**
 * An idempotency key: one effect, and the same response to every repetition.
 *
 * @module-tag both
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createSealedCodec, hashRequest } from "../src/platform/foundation/kernel/call/idempotency/index.ts";
import { contacts } from "../tools/contacts.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { requestsAtOnce } from "./support/requests-at-once.ts";

const app = useTestApp();

const post = (key: string, json: object, path = "/v1/contacts") =>
  app.fetch(path, { method: "POST", json, headers: { "idempotency-key": key } });

const repeats = requestsAtOnce({ embedded: 50, postgres: 200 });

test("the same key many times at once has one effect and one response", async () => {
  const json = { to: "+14155550171", type: "text", text: { body: "once" } };
  const answers = await Promise.all(
    Array.from({ length: repeats }, () => post("many", json, "/v1/messages")),
  );
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(bodies).size).toBe(1);
  const replayed = answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true");
  expect(replayed).toHaveLength(repeats - 1);
  const rows = app.server.database.queries.selectFrom("messages").select("id").where("to", "=", json.to);
  expect(await rows.execute()).toHaveLength(1);
});

test("the same key with another request is rejected", async () => {
  await post("mine", { phone_number: "+14155550172" });
  const other = await post("mine", { phone_number: "+14155550173" });
  expect(other.status).toBe(422);
  expect(await other.json()).toMatchObject({
    error: { type: "idempotency", code: "idempotency_key_reused" },
  });
});

test("a rejection by a business rule is stored; an invalid request is not", async () => {
  await app.call(contacts.create_contact, { phone_number: "+14155550174" });
  const [first, second] = [
    await post("known", { phone_number: "+14155550174" }),
    await post("known", { phone_number: "+14155550174" }),
  ];
  expect([first.status, second.status]).toEqual([409, 409]);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect((await post("typo", { phone: "+14155550175" })).status).toBe(400);
  expect((await post("typo", { phone_number: "+14155550175" })).status).toBe(201);
});

test("a key expires after 24 hours", async () => {
  await post("daily", { phone_number: "+14155550176" });
  await app.advanceTime(24 * 3_600_000 + 1);
  const again = await post("daily", { phone_number: "+14155550177" });
  expect(again.status).toBe(201);
});

test("the same key on another route is another key", async () => {
  expect((await post("shared", { phone_number: "+14155550178" })).status).toBe(201);
  const elsewhere = await post(
    "shared",
    { to: "+14155550178", type: "text", text: { body: "x" } },
    "/v1/messages",
  );
  expect(elsewhere.status).toBe(201);
});

test("the order of members does not change a request", async () => {
  const metadata = [
    { a: 1, b: { c: 2, d: 3 } },
    { b: { d: 3, c: 2 }, a: 1 },
  ];
  const [first, second] = [
    await post("order", { phone_number: "+14155550170", metadata: metadata[0] }),
    await post("order", { metadata: metadata[1], phone_number: "+14155550170" }),
  ];
  expect([first.status, second.status]).toEqual([201, 201]);
});

test("a secret in a response is replayed, and stored encrypted", async () => {
  const json = { name: "sealed", scopes: ["contacts:read"] };
  const [first, second] = [
    await (await post("secret", json, "/v1/api-keys")).json(),
    await (await post("secret", json, "/v1/api-keys")).json(),
  ];
  expect(second).toEqual(first);
  const { secret_key } = (first as { data: { secret_key: string } }).data;
  const rows = await app.server.database.queries.selectFrom("idempotency").select("body").execute();
  expect(JSON.stringify(rows)).not.toContain(secret_key);
});

test("a sign-in that is repeated with its key starts one session", async () => {
  const json = { email: ownerEmail, password: ownerPassword };
  const first = await post("sign-in", json, "/v1/auth/login");
  const second = await post("sign-in", json, "/v1/auth/login");
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(await second.json()).toEqual(await first.json());
  const wrong = await post("sign-in", { ...json, password: "another password" }, "/v1/auth/login");
  expect(wrong.status).toBe(401);
});

test("the stored request hash can't be reproduced without the app's secret", async () => {
  const json = { email: ownerEmail, password: ownerPassword };
  await post("hashed", json, "/v1/auth/login");
  const { request_hash } = await app.server.database.queries
    .selectFrom("idempotency")
    .select("request_hash")
    .where("key", "=", "hashed")
    .executeTakeFirstOrThrow();
  const sorted = Object.fromEntries(Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1)));
  const guess = createHash("sha256")
    .update(JSON.stringify(["login", sorted]))
    .digest("base64url");
  expect(request_hash).not.toBe(guess);
});

test("after a rotation of the secret a repeated request is recognized, and its response decrypted", () => {
  const [before, after] = ["o".repeat(32), "n".repeat(32)] as [string, string];
  const generatedSecret = "g".repeat(32);
  const old = { secret: before, previousSecret: undefined, generatedSecret };
  const rotated = { secret: after, previousSecret: before, generatedSecret };
  const [stored] = hashRequest(old, "create_user", { name: "Ada" });
  expect(hashRequest(rotated, "create_user", { name: "Ada" })).toContain(stored);
  expect(hashRequest(rotated, "create_user", { name: "Ada" })[0]).not.toBe(stored);
  const sealed = JSON.parse(createSealedCodec(old).encode({ password: "shown once" }));
  expect(createSealedCodec(rotated).decode(sealed)).toEqual({ password: "shown once" });
  expect(() => createSealedCodec({ ...rotated, previousSecret: undefined }).decode(sealed)).toThrow();
});

test("a key over 255 characters is rejected", async () => {
  const answer = await post("x".repeat(256), { phone_number: "+14155550179" });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "invalid_idempotency_key" } });
});
