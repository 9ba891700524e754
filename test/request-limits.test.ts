/** Limits of requests and of error answers: how much a caller can send, and how much one request can cost. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { failInput } from "../tools/contract/index.ts";
import { fail } from "../tools/errors.ts";
import { useTestApp } from "./support/app.ts";

const app = useTestApp();

const headers = { "content-type": "application/json" };
const megabyte = "x".repeat(1_000_000);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly error: Record<string, unknown> & { message: string; details?: readonly { field: string }[] };
}

async function send(method: string, path: string, body: string, key?: null): Promise<Answer> {
  const answer = await app.fetch(path, { method, headers, body, ...(key === null ? { key } : {}) });
  const text = await answer.text();
  return { status: answer.status, text, error: JSON.parse(text).error };
}

describe("without a credential", () => {
  test.each([
    ["POST", "/v1/auth/login"],
    ["POST", "/v1/auth/refresh"],
    ["PUT", "/v1/auth/password"],
    ["PATCH", "/v1/auth/login"],
    ["POST", "/v1/nothing"],
  ])("%s %s takes a body of at most 8 kB", async (method, path) => {
    const post = (length: number) => send(method, path, JSON.stringify({ a: "x".repeat(length - 8) }), null);
    expect((await post(8_192)).error.code).not.toBe("body_too_large");
    const { status, error } = await post(8_193);
    expect(status).toBe(413);
    expect(error).toMatchObject({
      code: "body_too_large",
      message: "The request body is larger than 8192 bytes.",
    });
  });

  test.each([
    ["POST", "/v1/contacts"],
    ["PUT", "/simulator/faults"],
    ["POST", "/mcp"],
  ])("the body of %s %s is not read", async (method, path) => {
    const missing = await send(method, path, "{", null);
    expect([missing.status, missing.error.code]).toEqual([401, "credential_missing"]);
    const large = await send(method, path, megabyte, null);
    expect([large.status, large.error.code]).toEqual([401, "credential_missing"]);
  });
});

test("only the fields that an operation has are checked", async () => {
  const body = '{"phone_number":"+14155550184","other":{"a":["\\u0000"]}}';
  const { status } = await send("POST", "/v1/contacts", body);
  expect(status).toBe(201);
});

test("a value that can't be stored is named by its path", async () => {
  const body = '{"phone_number":"+14155550185","metadata":{"a":[{"b":"\\u0000"}]}}';
  const { error } = await send("POST", "/v1/contacts", body);
  expect(error).toMatchObject({ code: "unstorable_text", param: "metadata.a[0].b" });
});

describe("an open object over its limit is rejected", () => {
  const member = '"a":';
  test.each([
    ["by a long text", `{"a":"${"x".repeat(16_384)}"}`],
    ["by 100,000 members", `{${Array.from({ length: 80_000 }, (_, index) => `"${index}":1`).join()}}`],
    ["by a long list", `{"a":[${"[],".repeat(300_000)}1]}`],
    ["by its depth", `{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
    ["by objects in objects", `{${member}${`{${member}`.repeat(100_000)}1${"}".repeat(100_000)}}`],
  ])("%s", async (_, metadata) => {
    const body = `{"phone_number":"+14155550186","metadata":${metadata}}`;
    const { status, error } = await send("POST", "/v1/contacts", body);
    expect(status).toBe(400);
    expect(error.details).toMatchObject([
      { field: "metadata", message: "At most 16384 characters as JSON." },
    ]);
  });

  test.each([
    [16_383, 201],
    [16_384, 201],
    [16_385, 400],
  ])("exactly: %i characters are answered with %i", async (length, expected) => {
    const fixed = JSON.stringify({ "é\n": [1.5e30, null, true, {}, [], [[2]]], text: "" });
    const metadata = { ...JSON.parse(fixed), text: "y".repeat(length - fixed.length) };
    expect(JSON.stringify(metadata)).toHaveLength(length);
    const body = JSON.stringify({ phone_number: `+141555${length}`, metadata });
    expect((await send("POST", "/v1/contacts", body)).status).toBe(expected);
  });
});

test("a list over its limit is rejected before its elements are checked", async () => {
  const body = `{"url":"https://a.example","events":[${"1,".repeat(450_000)}1]}`;
  const { status, error, text } = await send("POST", "/v1/webhook-subscriptions", body);
  expect(status).toBe(400);
  expect(error.details).toMatchObject([{ field: "events", code: "too_big" }]);
  expect(text.length).toBeLessThan(1_000);
});

describe("an error answer", () => {
  const names = Array.from({ length: 500 }, (_, index) => `name${index}`);

  test("names 20 invalid fields and says how many there are", async () => {
    const tags = names.slice(0, 50).map(() => 1);
    const body = JSON.stringify({ add_tags: tags, remove_tags: tags });
    const { error } = await send("PATCH", "/v1/conversations/conv_1", body);
    expect(error.details).toHaveLength(20);
    expect(error.message).toContain("100 fields are invalid, and details has the first 20. add_tags[0]: ");
  });

  test("names 20 unknown fields and says how many there are", () => {
    const input = Object.fromEntries(names.map((name) => [name, 1]));
    const issues = z.strictObject({}).safeParse(input).error?.issues ?? [];
    const { detail, message } = failInput(issues, input);
    expect(detail.details).toHaveLength(20);
    expect(message).toContain("500 fields are invalid, and details has the first 20.");
  });

  test("has at most 20 kB, whatever the fields are called", () => {
    const input = Object.fromEntries(names.map((name) => [`${name}${"\u0001é".repeat(10_000)}`, 1]));
    const issues = z.record(z.string(), z.string()).safeParse(input).error?.issues ?? [];
    const failure = failInput(issues, input);
    expect(Buffer.byteLength(JSON.stringify(failure.body("req_1")))).toBeLessThan(20_000);
    expect(failure.message).toContain("500 fields are invalid");
  });

  test("quotes at most 100 characters of a value", async () => {
    const tool = await send("POST", "/v1/mcp/tools/call", JSON.stringify({ name: "x".repeat(128) }));
    expect(tool.error.message).toBe(`There is no tool named ${"x".repeat(100)}….`);
    expect(tool.error.value).toBe(`${"x".repeat(100)}…`);
    const cursor = await app.fetch(`/v1/events?after=${"x".repeat(4_000)}`);
    expect((await cursor.text()).length).toBeLessThan(1_000);
    expect(fail("unknown_argument", { value: `${"x".repeat(99)}😀`, known: "a" }).message).toContain(
      `${"x".repeat(99)}\ufffd…`,
    );
  });

  test("names few of many unknown arguments of a tool", async () => {
    const input = Object.fromEntries(names.slice(0, 90).map((name) => [name, 1]));
    const { error } = await send(
      "POST",
      "/v1/mcp/tools/call",
      JSON.stringify({ name: "list_contacts", arguments: input }),
    );
    expect(error).toMatchObject({ code: "unknown_argument", value: expect.stringContaining("name0, name1") });
    expect(String(error.value)).toHaveLength(101);
  });
});

test("a tool call over REST takes at most 100 arguments", async () => {
  const input = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, 1]));
  const { error } = await send(
    "POST",
    "/v1/mcp/tools/call",
    JSON.stringify({ name: "list_contacts", arguments: input }),
  );
  expect(error.details).toMatchObject([{ field: "arguments", message: "At most 100 arguments." }]);
});
