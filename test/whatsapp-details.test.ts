/** What customers send on WhatsApp besides texts and files, and how they came to write. */
import { describe, expect, test } from "vitest";
import { sampleFiles } from "../emulator/control/sample-files.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { webhooks } from "../tools/webhooks.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { useWhatsAppCustomer } from "./support/whatsapp-customer.ts";

const customer = useWhatsAppCustomer();
const { bytes: webp } = sampleFiles.sticker;
const { bytes: ogg } = sampleFiles.audio;

const ad = (source_id: string) => ({
  source_type: "ad",
  source_id,
  headline: "Chat with us",
  ctwa_clid: "Aff",
});
const order = {
  catalog_id: "1",
  text: "Please hurry",
  product_items: [{ product_retailer_id: "canoe", quantity: 2, item_price: 300, currency: "EUR" }],
};

describe("a received message", () => {
  test("has the answers of a form, without what belongs to the form itself", async () => {
    const response_json = JSON.stringify({ flow_token: "unused", size: "M", days: ["Mon", "Tue"] });
    const shown = await customer().write("", {
      type: "interactive",
      interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json } },
    });
    expect(shown).toMatchObject({
      type: "form",
      form: { name: "flow", answers: { size: "M", days: ["Mon", "Tue"] } },
      summary: 'Form: flow, days: ["Mon","Tue"], size: M',
    });
  });

  test("has the answers of a form without characters that can't be stored", async () => {
    const response_json = JSON.stringify({ "na\0me": "A\0da\ud800" });
    const interactive = { type: "nfm_reply", nfm_reply: { name: "flow", response_json } };
    expect(await customer().write("", { type: "interactive", interactive })).toMatchObject({
      type: "form",
      form: { name: "flow", answers: { name: "Ada\ufffd" } },
    });
  });

  test("with answers that can't be read is unsupported, and keeps them", async () => {
    const interactive = { type: "nfm_reply", nfm_reply: { name: "flow", response_json: "{" } };
    expect(await customer().write("", { type: "interactive", interactive })).toMatchObject({
      type: "unsupported",
      channel_data: { interactive },
    });
  });

  test("says whether calls are permitted", async () => {
    const call_permission_reply = { response: "accept", expiration_timestamp: 1_800_000_000 };
    const interactive = { type: "call_permission_reply", call_permission_reply };
    expect(await customer().write("", { type: "interactive", interactive })).toMatchObject({
      type: "call_permission",
      call_permission: { is_granted: true, is_permanent: false, expires_at: "2027-01-15T08:00:00.000Z" },
      summary: "Calls are permitted.",
    });
  });

  test("may be a sticker or a voice message, whose files are copied", async () => {
    const { app, graph, write } = customer();
    graph.routes["GET 7001"] = () => ({ body: { url: `${graph.url}/file/content` } });
    graph.routes["GET content"] = () => ({ body: webp, headers: { "content-type": "image/webp" } });
    const sticker = await write("", {
      type: "sticker",
      sticker: { id: "7001", mime_type: "image/webp", animated: true },
    });
    expect(sticker).toMatchObject({ type: "sticker", channel_data: { sticker: { animated: true } } });
    const { pathname, search } = new URL(sticker.media?.url ?? "");
    expect((await app.fetch(pathname + search, { key: null })).status).toBe(200);
    graph.routes["GET content"] = () => ({ body: ogg, headers: { "content-type": "audio/ogg" } });
    const audio = { id: "7001", mime_type: "audio/ogg", voice: true };
    expect((await write("", { type: "audio", audio })).media).toMatchObject({ voice: true });
  });

  test("says that it was forwarded, and how often", async () => {
    const { write } = customer();
    expect((await write("a", { context: { forwarded: true } })).forwarded).toBe("once");
    expect((await write("b", { context: { frequently_forwarded: true } })).forwarded).toBe("frequently");
    expect(await write("c")).not.toHaveProperty("forwarded");
  });

  test("is listed, searched and previewed by its summary", async () => {
    const { app, write } = customer();
    const { id, conversation_id } = await write("", { type: "order", order });
    const summary = "Order: 2 × canoe at 300 EUR, Please hurry";
    const { data: list } = await app.call(messages.list_messages, { conversation_id });
    expect(list[0]).toMatchObject({ type: "order", summary, order: { note: "Please hurry" } });
    const { data: rows } = await app.call(conversations.list_conversations, {});
    expect(rows.find((row) => row.id === conversation_id)?.last_message?.text).toBe(summary);
    await app.runDueJobs();
    const { data: found } = await app.call(messages.search_messages, { query: "canoe" });
    expect(JSON.stringify(found)).toContain(id);
  });

  test("of an order starts a flow, which answers", async () => {
    const { app, graph, write } = customer();
    await createFlowHelpers(app).create([say("Thank you for {{message.text}}")], {
      trigger_keyword: "Order",
      trigger_match: "starts_with",
      is_enabled: true,
    });
    await write("", { type: "order", order });
    await app.runDueJobs();
    expect(graph.sent().at(-1)).toMatchObject({
      text: { body: "Thank you for Order: 2 × canoe at 300 EUR, Please hurry" },
    });
  });

  test("of a group is not stored", async () => {
    const { app, receive, person, warnings } = customer();
    const before = (await app.call(conversations.list_conversations, {})).meta;
    const text = {
      ...person().ids,
      id: "wamid.group",
      timestamp: "1",
      type: "text",
      text: { body: "Hi all" },
    };
    await receive({ ...text, group_id: "Y2FwaV9ncm91cA" });
    expect((await app.call(conversations.list_conversations, {})).meta).toEqual(before);
    expect(JSON.stringify(warnings)).toContain("group_message");
  });
});

describe("an ad by which a contact came", () => {
  test("is shown by the message, its event, and the first and the latest by the conversation", async () => {
    const { app, write } = customer();
    const { meta: start } = await app.call(webhooks.list_events, {});
    const { conversation_id } = await write("Hello", { referral: ad("111") });
    await write("Again", { referral: ad("222") });
    const { data } = await app.call(webhooks.list_events, { after: start.cursor, types: "message.received" });
    expect(data.map(({ data: body }) => body)).toMatchObject([
      { referral: { source_id: "111", click_id: "Aff" } },
      { referral: { source_id: "222" } },
    ]);
    const { data: shown } = await app.call(conversations.get_conversation, { id: conversation_id });
    expect(shown.referrals).toMatchObject({
      first: { source_id: "111", headline: "Chat with us", at: expect.any(String) },
      latest: { source_id: "222" },
    });
  });

  test("is counted by the report, once for each conversation that came by it last", async () => {
    const { app, write, next } = customer();
    const start = app.now();
    await write("Hello", { referral: ad("444") });
    next();
    await app.advanceTime(60_000);
    const later = app.now();
    await write("Hello", { referral: ad("555") });
    await write("Again", { referral: ad("666") });
    next();
    await write("Hello", { referral: ad("666") });
    next();
    await write("Hello", { referral: { source_type: "post", source_id: "777" } });
    const read = async (since: Date) => {
      const { data } = await app.call(messages.get_inbox_report, { since: since.toISOString() });
      return data.ads.filter(({ source_id }) => ["444", "555", "666", "777"].includes(source_id));
    };
    const found = [
      { source_id: "666", source_type: "ad", headline: "Chat with us", conversation_count: 2 },
      { source_id: "777", source_type: "post", conversation_count: 1 },
    ];
    expect(await read(later)).toEqual(found);
    const older = { source_id: "444", source_type: "ad", headline: "Chat with us", conversation_count: 1 };
    expect(await read(start)).toEqual([found[0], older, found[1]]);
  });

  test("is a condition of cohorts and of routing", async () => {
    const { app, write, next } = customer();
    const { conversation_id } = await write("Hello", { referral: ad("333") });
    next();
    const { conversation_id: other } = await write("Hello");
    const condition = { attribute: "conversation.referral_id", operator: "eq", value: "333" } as const;
    const { data: preview } = await app.call(cohorts.preview_cohort, { query: condition });
    expect(preview.contact_count).toBe(1);
    const { data: policy } = await app.call(routing.create_routing_policy, {
      name: "Ad 333",
      strategy: "round_robin",
      target_type: "team",
      target_id: (await app.call(teams.create_team, { name: "Ads" })).data.id,
      conditions: condition,
    });
    const matches = async (id: string) => {
      const { data } = await app.call(routing.simulate_routing, {
        conversation_id: id,
        policy_id: policy.id,
      });
      return JSON.stringify(data);
    };
    expect(await matches(conversation_id)).not.toBe(await matches(other));
  });
});
