/**
 * whoami: what an assistant works with, and which tools it does not have, with the reason; which
 * messages are simulated.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { toolsOf } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { allScopes, type OutputOf, permits, type Scope } from "../tools/contract/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { organization } from "../tools/organization.ts";
import { ownerKey, type TestApp, useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";
import {
  deliver,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";

type WhoAmI = OutputOf<typeof auth.whoami>["data"];

describe("the description of a credential", () => {
  const app = useTestApp({
    env: { TIDINGS_TOOLS_DENY: "send_message,list_contacts", TIDINGS_TOOL_MODE: "all" },
  });

  const whoami = async (key = ownerKey) => (await app.call(auth.whoami, {}, { key })).data;
  const keyWith = async (scopes: Scope[]) =>
    (await app.call(apiKeys.create_api_key, { name: scopes.join(), scopes })).data.secret_key;

  test("names the organization, the time, the inboxes and the scopes", async () => {
    await app.call(organization.update_organization, { time_zone: "Europe/Berlin", currency: "EUR" });
    const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
    expect(inbox).toMatchObject({ channel: "simulator", simulated: true });
    const { id, name, phone_number } = inbox ?? {};
    expect(await whoami(await keyWith(["inbox:read", "contacts:read"]))).toMatchObject({
      organization: { time_zone: "Europe/Berlin", currency: "EUR" },
      now: app.now().toISOString(),
      inboxes: [{ id, name, phone_number, channel: "simulator", simulated: true }],
      scopes: ["contacts:read", "inbox:read"],
      missing_scopes: allScopes.filter((scope) => scope !== "contacts:read" && scope !== "inbox:read"),
    });
    expect((await whoami()).missing_scopes).toEqual([]);
  });

  test("lists exactly the tools that the credential can't call, each once, with what is missing", async () => {
    const held = new Set<Scope>(["inbox:read", "contacts:read"]);
    const { hidden_tools } = await whoami(await keyWith([...held]));
    const expected = [...toolsOf()].flatMap(([name, { scope }]) => (permits(held, scope) ? [] : name));
    const names = hidden_tools.flatMap(({ tools }) => tools);
    // list_contacts has its scope, and is hidden by the setting.
    expect([...names].sort()).toEqual([...expected, "list_contacts"].sort());
    const ofContacts = hidden_tools.find(({ group, setting }) => group === "contacts" && setting === null);
    expect(ofContacts).toMatchObject({ missing_scopes: ["contacts:write", "contacts:manage"] });
    expect(ofContacts?.tools.sort()).toEqual([
      "create_contact",
      "delete_contact",
      "tag_contact",
      "update_contact",
      "upsert_contact",
    ]);
  });

  test("names the setting of the service that hides a tool, whatever its scope", async () => {
    const { hidden_tools } = await whoami();
    const setting = "TIDINGS_TOOLS_DENY";
    expect(hidden_tools).toEqual([
      { group: "contacts", tools: ["list_contacts"], missing_scopes: [], setting },
      { group: "messages", tools: ["send_message"], missing_scopes: [], setting },
    ]);
  });

  test("names the header of a request to /mcp that hides tools, besides the setting of the service", async () => {
    const { hidden_tools } = await callWhoAmI(app, { "x-tidings-toolsets": "contacts,messages,auth" });
    const bySetting = hidden_tools.filter(({ setting }) => setting === "TIDINGS_TOOLS_DENY");
    expect(bySetting.flatMap(({ tools }) => tools)).toEqual(["list_contacts", "send_message"]);
    const byHeader = hidden_tools.filter(({ setting }) => setting === "X-Tidings-Toolsets");
    expect(bySetting.length + byHeader.length).toBe(hidden_tools.length);
    expect(byHeader.map(({ group }) => group)).toEqual(
      expect.arrayContaining(["conversations", "broadcasts", "billing"]),
    );
    expect(byHeader.map(({ group }) => group)).not.toContain("contacts");
    const [names, shown] = [await listedNames(app), hidden_tools.flatMap(({ tools }) => tools)];
    expect(shown).toEqual(expect.arrayContaining(names.filter((name) => name.includes("broadcast"))));
  });
});

async function connect(app: TestApp, headers: Record<string, string> = {}) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${ownerKey}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.address), { requestInit }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function callWhoAmI(app: TestApp, headers: Record<string, string>): Promise<WhoAmI> {
  await using client = await connect(app, headers);
  const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} });
  return (structuredContent as { data: WhoAmI }).data; // the output schema of the tool
}

async function listedNames(app: TestApp): Promise<string[]> {
  await using client = await connect(app);
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe("messages of a simulated inbox say so, and others do not", () => {
  let app: TestApp;
  let inbox: Inbox;
  useWhatsApp((started) => {
    ({ app, inbox } = started);
  });

  /** `simulated` of a conversation's messages, by each operation that shows them. */
  async function readAll(conversation_id: string, from: string) {
    const { data: listed } = await app.call(messages.list_messages, { conversation_id });
    const { data: context } = await app.call(messages.get_conversation_context, { id: conversation_id });
    const { data: waited } = await app.call(messages.wait_for_message, { conversation_id, after: from });
    const message_id = listed[0]?.id ?? "";
    const { data: one } = await app.call(messages.get_message, { conversation_id, message_id });
    return [...listed, ...context.messages, ...waited, one].map(({ simulated }) => simulated);
  }

  test("on the simulated channel", async () => {
    const { message_id, conversation_id } = await openPhone(app, "+14155550811").write("one");
    await openPhone(app, "+14155550811").write("two");
    const { data: sent } = await app.call(messages.send_message, {
      to: "+14155550811",
      type: "text",
      text: { body: "hi" },
    });
    expect(sent.simulated).toBe(true);
    const shown = await readAll(conversation_id, message_id);
    expect(shown).toEqual(Array.from({ length: 8 }, () => true));
  });

  test("on WhatsApp", async () => {
    await openWindow(app, inbox);
    const { read } = await sendText(app, inbox);
    const { conversation_id, id } = await read();
    await deliver(app, inbox, messagesChange({ messages: [inboundText("two")] }));
    const shown = await readAll(conversation_id, id);
    expect(shown).toEqual(Array.from({ length: 8 }, () => undefined));
    const listed = (await app.call(inboxes.list_inboxes, {})).data;
    expect(listed.map(({ channel, simulated }) => [channel, simulated]).sort()).toEqual([
      ["simulator", true],
      ["whatsapp", false],
    ]);
  });
});
