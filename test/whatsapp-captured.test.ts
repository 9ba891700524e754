/** What every captured payload and every example of Meta stores, when it arrives as a signed webhook. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import replay from "./fixtures/whatsapp/replay-dm-whatsapp.json" with { type: "json" };
import samples from "./fixtures/whatsapp/sample-messages.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { jpeg } from "./support/files.ts";
import {
  type createWhatsAppInbox,
  credentials,
  type GraphApi,
  postWebhook,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Awaited<ReturnType<typeof createWhatsAppInbox>>;
beforeAll(async () => {
  graph = await startGraphApi();
  ({ app, inbox } = await startWhatsAppApp(graph));
  graph.routes["GET 1003383421387256"] = () => ({ body: { url: `${graph.url}/file/content` } });
  graph.routes["GET 000000000000001"] = () => ({ body: { url: `${graph.url}/file/content` } });
  graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await graph[Symbol.asyncDispose]();
});

const stored = () => app.server.database.queries.selectFrom("messages").selectAll().orderBy("id").execute();

/** The newest message, as the API shows it. */
async function newest() {
  const row = (await stored()).at(-1);
  const { conversation_id = "", id: message_id = "" } = row ?? {};
  return (await app.call(messages.get_message, { conversation_id, message_id })).data;
}

let repetition = 0;
/** A captured payload with our number's id, and with ids that no other payload has. */
function ours(payload: unknown): string {
  repetition += 1;
  return JSON.stringify(payload)
    .replace(/"phone_number_id":"\d+"/g, `"phone_number_id":"${credentials.phone_number_id}"`)
    .replace(/"id":"(wamid\.[^"]+)"/g, `"id":"$1${repetition}"`);
}

async function receive(payload: unknown): Promise<number> {
  const before = (await stored()).length;
  expect((await postWebhook(app, inbox, { body: ours(payload) })).status).toBe(200);
  await app.runDueJobs();
  return (await stored()).length - before;
}

const text = (body: string) => ({ type: "text", text: { body } });
const reply = (id: string, title: string) => ({ type: "interactive", reply: { id, title } });
const unsupported = (type: string) => ({ type: "unsupported", unsupported: { type } });

describe("Meta's own example", () => {
  const effects: Record<string, object | null> = {
    "Text Message": text("Does it come in another color?"),
    "Text Message with Context (Product Inquiry)": text("Is this still available?"),
    "Text Message from Click to WhatsApp Ad": { type: "text" },
    "Reaction Message": null,
    "Image Message": { type: "image", media: { caption: "Taj Mahal" } },
    "Location Message": unsupported("location"),
    "Contact Sharing Message": unsupported("contacts"),
    "Unsupported Message": unsupported("unsupported"),
    "Button Message": reply("Unsubscribe", "Unsubscribe"),
    "Interactive List Reply Message": reply("priority_express", "Priority Mail Express"),
    "Interactive Button Reply Message": reply("cancel-button", "Cancel"),
    "Order Message": unsupported("order"),
    "System Message": null,
    "Group Create Message": null,
    "Group Settings Update": null,
    "Group Remove Participants": null,
  };
  const requests = examples.operations["post /whatsapp/webhooks"];

  test("each has an expected effect", () => {
    expect(requests.map(({ name }) => name).sort()).toEqual(Object.keys(effects).sort());
  });

  test.each(requests)("$name", async ({ name, value }) => {
    const effect = effects[name] ?? null;
    expect(await receive(value)).toBe(effect === null ? 0 : 1);
    if (effect !== null) {
      expect(await newest()).toMatchObject({ direction: "inbound", from: "+16505551234", ...effect });
    }
  });
});

describe("a captured payload", () => {
  const effects: Record<string, object | null> = {
    "Text message": text("Hello, bot!"),
    "Image message": { type: "image", media: { caption: "Check this out" } },
    Reaction: null,
    "Interactive button reply": reply("btn_approve", "Approve"),
    "Text message with business-scoped user IDs": text("Hello from a username user"),
    "Status update (message delivered)": null,
    "System message (user_changed_number)": null,
    "System message (user_changed_user_id)": null,
    "BSUID rotation (user_id_update)": null,
  };

  test("each has an expected effect", () => {
    expect(Object.keys(samples.payloads).sort()).toEqual(Object.keys(effects).sort());
  });

  test.each(Object.entries(samples.payloads))("%s", async (name, payload) => {
    const effect = effects[name] ?? null;
    expect(await receive(payload)).toBe(effect === null ? 0 : 1);
    if (effect !== null) {
      expect(await newest()).toMatchObject({ from: "+15551234567", ...effect });
    }
  });

  test("of a conversation is stored in order", async () => {
    expect(await receive(replay.firstMessage)).toBe(1);
    expect(await receive(replay.secondMessage)).toBe(1);
    expect(await receive(replay.statusUpdate)).toBe(0);
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id });
    expect(data.map((message) => message.text?.body)).toEqual(["Tell me more", "What is Vercel?"]);
    const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
    expect(conversation.inbox_id).toBe(inbox.id);
  });
});
