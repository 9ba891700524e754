/** Tools over REST: the list is filtered by scope, and a call follows all rules of its operation. */
import { beforeAll, expect, test } from "vitest";
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import { createToolLists } from "../src/platform/foundation/kernel/call/delegated/tools.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes, toolNames } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";
import { mcp } from "../tools/mcp.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();
let narrow: string;
beforeAll(async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "narrow", scopes: ["contacts:read"] });
  narrow = data.secret_key;
});

test("a key sees only the tools of its scopes", async () => {
  const { data } = await app.call(mcp.list_mcp_tools, {}, { key: narrow });
  expect(data.map(({ name }) => name)).toEqual([
    "list_contacts",
    "get_contact",
    "describe_attributes",
    "preview_cohort",
    "list_cohort_members",
    "get_import",
    "get_pricing",
    "get_organization",
    "whoami",
  ]);
});

test("a call beyond the key's scopes is rejected with the missing scope", async () => {
  const call = app.call(mcp.call_mcp_tool, { name: "send_message", arguments: {} }, { key: narrow });
  const failure = await expectFailure(call);
  expect(failure).toMatchObject({ status: 403, code: "insufficient_scope" });
  expect(failure.error).toMatchObject({ required_scope: "inbox:write" });
});

test("a tool that is declared but not implemented is neither listed nor found", async () => {
  const { data } = await app.call(mcp.list_mcp_tools, {});
  const unimplemented = toolNames(catalogue).filter((name) => !embeddedTools.includes(name));
  expect(data.map(({ name }) => name)).toEqual(embeddedTools);
  for (const name of unimplemented) {
    const failure = await expectFailure(app.call(mcp.call_mcp_tool, { name }));
    expect(failure, name).toMatchObject({ status: 404, code: "tool_not_found" });
  }
});

test("the texts of the list name no tool that it lacks", async () => {
  const { data } = await app.call(mcp.list_mcp_tools, {}, { key: narrow });
  const listed = data.map(({ name }) => name);
  const texts = data.map((tool) => tool.description + JSON.stringify(tool.input_schema)).join(" ");
  const named = (texts.match(/\w+/g) ?? []).filter((word) => toolNames(catalogue).includes(word));
  expect(named.filter((name) => !listed.includes(name))).toEqual([]);
  expect(named).toContain("list_contacts");
});

test("send_message returns what the specification shows", async () => {
  const given = { name: "send_message", arguments: { to: "+14155550161", body: "hello" } };
  const { data } = await app.call(mcp.call_mcp_tool, given);
  expect(data).toMatchObject({ to: "+14155550161", status: "queued", id: expect.stringMatching(/^msg_/) });
});

test("a list result includes its paging", async () => {
  await app.call(contacts.upsert_contact, { phone_number: "+14155550163" });
  const answer = await app.call(mcp.call_mcp_tool, { name: "list_contacts", arguments: { per_page: "1" } });
  expect(answer).toMatchObject({
    data: [{ id: expect.stringMatching(/^con_/) }],
    meta: { page: 1, per_page: 1 },
  });
});

test.each(["constructor", "__proto__", "toString"])("the name %s is not a tool", async (name) => {
  expect(await expectFailure(app.call(mcp.call_mcp_tool, { name }))).toMatchObject({
    code: "tool_not_found",
  });
});

test("an unknown tool is 404, and an unknown argument is rejected with the known ones", async () => {
  expect(await expectFailure(app.call(mcp.call_mcp_tool, { name: "fly" }))).toMatchObject({
    status: 404,
    code: "tool_not_found",
  });
  const call = app.call(mcp.call_mcp_tool, { name: "send_message", arguments: { to: "+1", text: "x" } });
  const failure = await expectFailure(call);
  expect(failure).toMatchObject({ status: 400, code: "unknown_argument" });
  expect(failure.message).toContain("text");
  expect(failure.error).toMatchObject({ known: "to, body, inbox_id, reply_to, wait_seconds" });
});

test("the call's idempotency key applies to its operation", async () => {
  const given = { name: "create_contact", arguments: { phone_number: "+14155550162" } };
  const first = await app.call(mcp.call_mcp_tool, given, { idempotencyKey: "once" });
  const second = await app.call(mcp.call_mcp_tool, given, { idempotencyKey: "once" });
  expect(second).toEqual(first);
  const other = { name: "upsert_contact", arguments: { phone_number: "+14155550163" } };
  expect(await expectFailure(app.call(mcp.call_mcp_tool, other, { idempotencyKey: "once" }))).toMatchObject({
    status: 422,
    code: "idempotency_key_reused",
  });
  expect((await app.call(contacts.list_contacts, { search: "4155550162" })).meta.total).toBe(1);
});

test("the tools are listed once for each set of scopes", () => {
  const list = createToolLists(catalogue, () => undefined);
  const all = list(new Set(allScopes));
  expect(list(new Set(allScopes.toReversed()))).toBe(all);
  const fewer = list(new Set(["contacts:read"] as const));
  expect(fewer.length).toBeLessThan(all.length);
  expect(list(new Set(["contacts:read"] as const))).toBe(fewer);
});
