/** The gateway tools, which find and run the tools that the mode leaves out of the list. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { ownerKey, useTestApp } from "./support/app.ts";

const app = useTestApp();
let reader: string;
beforeAll(async () => {
  const input = { name: "reader", scopes: ["contacts:read"] };
  reader = (await app.call(apiKeys.create_api_key, input)).data.secret_key;
});

async function connect(headers: Record<string, string> = {}, key = ownerKey) {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.address), { requestInit }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text);

describe("the gateways", () => {
  const search = { "x-tidings-tool-mode": "search" };
  const run = async (client: Client, gateway: string, name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name: gateway, arguments: { name, arguments: args } });

  test("find and run tools, with the same validation", async () => {
    await using client = await connect(search);
    expect(await namesOf(client)).toEqual(["search_tools", "run_read_tool", "run_write_tool"]);
    const found = await client.callTool({ name: "search_tools", arguments: { query: "send a text" } });
    expect(found.structuredContent).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({ name: "send_message", call_with: "run_write_tool" }),
      ]),
    });
    const args = { to: "+14155550222", body: "found" };
    const ran = await run(client, "run_write_tool", "send_message", args);
    expect(ran.structuredContent).toMatchObject({ data: { status: "queued" } });
    const wrong = await run(client, "run_write_tool", "send_message", { ...args, text: "x" });
    expect(textOf(wrong)[0]).toContain("send_message failed: unknown_argument");
    expect(textOf(wrong)[0]).toContain("to, body");
  });

  test("reach every tool that the mode leaves out, and the instructions say so", async () => {
    await using client = await connect();
    const listed = await namesOf(client);
    expect(client.getInstructions()).toMatch(
      new RegExp(`^${listed.length - 3} of \\d+ tools are listed\\. Find the others \\(.*inboxes.*\\)`),
    );
    const find = async (query: string) => {
      const found = await client.callTool({ name: "search_tools", arguments: { query } });
      return (found.structuredContent as { tools: object[] }).tools[0];
    };
    expect(await find("list inboxes")).toMatchObject({ name: "list_inboxes", call_with: "run_read_tool" });
    expect(await find("list inboxes")).toHaveProperty("input_schema");
    // The list has its schema.
    expect(await find("list users")).toEqual({
      name: "list_users",
      description: "List the organization's users, who are its agents, with their roles.",
      call_with: "list_users",
    });
    const inboxes = await run(client, "run_read_tool", "list_inboxes");
    expect(inboxes.structuredContent).toMatchObject({ meta: { total: 1 } });
    // As the model may do: its host sends the name on.
    const direct = await client.callTool({ name: "list_inboxes", arguments: {} });
    expect(direct.structuredContent).toEqual(inboxes.structuredContent);
  });

  test("take the arguments as JSON text, and the former name of the gateway", async () => {
    await using client = await connect();
    const call = { name: "get_contact", arguments: '{"id":"con_none"}' };
    for (const gateway of ["run_read_tool", "execute_tool"]) {
      const failed = await client.callTool({ name: gateway, arguments: call });
      expect(textOf(failed)[0]).toContain("get_contact failed: contact_not_found");
    }
  });

  test("of reads run no tool that writes, so that a host can allow them alone", async () => {
    await using client = await connect();
    const to = "+14155550230";
    const refused = await run(client, "run_read_tool", "send_message", { to, body: "x" });
    expect(textOf(refused)[0]).toBe(
      "send_message failed: tool_writes (400). send_message changes or sends something. Next: Call it with run_write_tool.",
    );
    expect((await app.call(contacts.list_contacts, { search: to })).meta.total).toBe(0);
  });

  test.each([
    ["a read-only request", { "x-tidings-read-only": "true" }, "X-Tidings-Read-Only"],
    ["a deny list", { "x-tidings-tools-deny": "pause_broadcast" }, "X-Tidings-Tools-Deny"],
    ["an allow list", { "x-tidings-tools-allow": "list_contacts" }, "X-Tidings-Tools-Allow"],
    ["a toolset", { "x-tidings-toolsets": "contacts" }, "X-Tidings-Toolsets"],
  ])("do not reach what %s hides", async (_, headers, setting) => {
    await using client = await connect(headers);
    for (const gateway of ["run_read_tool", "run_write_tool", "execute_tool"]) {
      const result = await run(client, gateway, "pause_broadcast", { id: "bc_1" });
      expect(textOf(result)[0]).toContain(`pause_broadcast failed: tool_hidden (403). ${setting} disables`);
    }
    const found = await client.callTool({ name: "search_tools", arguments: { query: "pause broadcast" } });
    expect(JSON.stringify(found.structuredContent)).not.toContain('"pause_broadcast"');
  });

  test.each([
    [{ "x-tidings-tools-deny": "send_message" }, "X-Tidings-Tools-Deny"],
    [{ "x-tidings-toolsets": "plans" }, "X-Tidings-Toolsets"],
  ])("with %j plan no call of a hidden tool", async (headers, setting) => {
    await using client = await connect(headers);
    const call = { tool: "send_message", arguments: { to: "+14155550231", body: "x" } };
    const failure = `plan_call failed: tool_hidden (403). ${setting} disables the tool send_message.`;
    const direct = await client.callTool({ name: "plan_call", arguments: call });
    const through = await run(client, "run_write_tool", "plan_call", call);
    for (const result of [direct, through]) {
      expect(textOf(result)[0]).toContain(failure);
    }
    expect((await app.call(plans.list_plans, {})).meta.total).toBe(0);
  });

  test("suggest the nearest name for an unknown one", async () => {
    await using client = await connect();
    const failed = await run(client, "run_read_tool", "list_inbox");
    expect(textOf(failed)[0]).toContain("There is no tool named list_inbox. Did you mean list_inboxes?");
  });

  test.each([
    ["text somebody and confirm delivery", ["send_message", "get_message"]],
    ["read messages in a conversation", ["list_messages"]],
    ["remove a contact", ["delete_contact"]],
    ["find a contact by name", ["list_contacts"]],
    ["read the customer's choice", ["list_messages"]],
    ["SMS somebody", ["send_message"]],
    ["who did what yesterday", ["list_activity"]],
    ["audit log", ["list_activity"]],
    ["approval", ["list_plans"]],
    ["waiting approvals", ["list_plans"]],
    ["why was a message not delivered", ["explain_message"]],
    ["conversation history", ["list_conversations", "get_conversation"]],
  ])("%s: the matching tools are among the first results", async (query, expected) => {
    await using client = await connect(search);
    const { structuredContent } = await client.callTool({ name: "search_tools", arguments: { query } });
    const { tools } = structuredContent as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(expected));
    expect(tools[0]?.name === "delete_contact").toBe(expected.includes("delete_contact"));
  });

  test("a key finds and runs only the tools that its scopes permit", async () => {
    await using client = await connect(search, reader);
    const found = await client.callTool({
      name: "search_tools",
      arguments: { query: "send message contact" },
    });
    expect(JSON.stringify(found.structuredContent)).not.toContain("send_message");
    for (const gateway of ["run_read_tool", "run_write_tool"]) {
      const ran = await run(client, gateway, "send_message");
      expect(textOf(ran)[0]).toContain("send_message failed: insufficient_scope (403)");
    }
  });
});
