/** An assistant talks to a customer over MCP, in both protocol revisions, against a running app. */
import { describe, expect, test } from "vitest";
import { apiKeys } from "../../tools/api-keys.ts";
import { ownerKey, useTestApp } from "../support/app.ts";
import { connectAssistant } from "../support/assistant.ts";
import { openPhone } from "../support/simulator.ts";

const revisions = {
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  "2025": {},
} as const;

const app = useTestApp();

describe.each(Object.entries(revisions))("in revision %s", (revision, options) => {
  const number = revision === "2025" ? "+14155550201" : "+14155550202";

  test("sends a message, sees it delivered and read, and reads the answer", async () => {
    await using assistant = await connectAssistant(app, ownerKey, options);
    const contact = await assistant.call("create_contact", { phone_number: number, name: "Ada" });
    const sent = await assistant.call("send_message", { to: number, body: "Your order is on its way." });
    expect(sent.data).toMatchObject({ status: "queued", to: number });
    const { id: message_id, conversation_id } = sent.data;

    await app.advanceTime(1000);
    await openPhone(app, number).read();
    const updated = await assistant.call("get_message", { conversation_id, message_id });
    expect(updated.data.status).toBe("read");

    await openPhone(app, number).write("Thank you!");
    const [conversation] = (await assistant.call("list_conversations", { filter: "unanswered" })).data;
    expect(conversation).toMatchObject({
      id: conversation_id,
      contact_id: contact.data.id,
      is_within_24h_window: true,
    });
    const [latest] = (await assistant.call("list_messages", { conversation_id })).data;
    expect(latest).toMatchObject({ direction: "inbound", text: { body: "Thank you!" } });
  });

  test("a key with only contacts:read sees only those tools, and a rejection names the missing scope", async () => {
    const { data } = await app.call(apiKeys.create_api_key, { name: "reader", scopes: ["contacts:read"] });
    await using assistant = await connectAssistant(app, data.secret_key, options);
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "search_tools",
      "run_read_tool",
      "list_contacts",
      "get_contact",
      "preview_cohort",
      "get_pricing",
      "whoami",
    ]);
    const rejected = await assistant.client.callTool({
      name: "send_message",
      arguments: { to: number, body: "x" },
    });
    expect(rejected.isError).toBe(true);
    expect(JSON.stringify(rejected.content)).toContain("inbox:write");
  });
});

test("a revoked key is rejected at the next request", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "short", scopes: ["contacts:read"] });
  await using assistant = await connectAssistant(app, data.secret_key);
  await assistant.client.listTools();
  await app.call(apiKeys.delete_api_key, { id: data.id });
  await expect(assistant.client.listTools()).rejects.toThrow(/401|credential|unauthorized/i);
});
