/** What every captured payload and every example of Meta does, when it arrives as a signed webhook. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import replay from "./fixtures/whatsapp/replay-dm-whatsapp.json" with { type: "json" };
import samples from "./fixtures/whatsapp/sample-messages.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { adaptPayload, postPayload, sendSubject } from "./support/captured-payloads.ts";
import { jpeg } from "./support/files.ts";
import {
  type createWhatsAppInbox,
  deliver,
  type GraphApi,
  inboundText,
  messagesChange,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

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

let repetition = 100;
function ours(payload: unknown): Json {
  repetition += 1;
  return adaptPayload(payload, repetition);
}

const target = () => ({ graph, app, inbox });

async function post(payload: Json): Promise<void> {
  expect(await postPayload(target(), payload)).toBe(200);
}

/** The contact with this number or id. */
async function contactOf(key: string) {
  const row = await app.server.database.queries
    .selectFrom("contact_identities")
    .select("contact_id as id")
    .where("value", "=", key)
    .executeTakeFirst();
  return row ? (await app.call(contacts.get_contact, row)).data : undefined;
}

/** Exactly one of these; `nothing` neither stores nor changes a message. */
interface Effect {
  /** A new message, which quotes the one that the payload names. */
  readonly message?: object;
  /** An emoji on a message of ours. */
  readonly reaction?: string;
  /** The status of a message of ours. */
  readonly receipt?: string;
  /** The person has another number or id. */
  readonly move?: { readonly from: string; readonly to: string };
  readonly nothing?: true;
}

const text = (body: string): Effect => ({ message: { type: "text", text: { body } } });
const reply = (id: string, title: string): Effect => ({
  message: { type: "interactive", reply: { id, title } },
});

async function expectEffect(captured: unknown, effect: Effect): Promise<void> {
  const payload = ours(captured);
  const [message] = payload.entry[0].changes[0].value.messages ?? [];
  const known = effect.move && (await meet(`${effect.move.from}${repetition}`));
  const subject = await sendSubject(target(), payload);
  const before = await stored();
  await post(payload);
  await post(payload);
  const after = await stored();
  expect(after.length - before.length).toBe(effect.message ? 1 : 0);
  if (effect.message) {
    expect(await newest()).toMatchObject({
      direction: "inbound",
      from: `+${message.from}`,
      reply_to: subject?.id ?? null,
      channel_message_id: message.id,
      sent_at: new Date(Number(message.timestamp) * 1000).toISOString(),
      ...effect.message,
    });
  }
  if (effect.reaction) {
    const at = new Date(Number(message.timestamp) * 1000).toISOString();
    const reactions = [{ emoji: effect.reaction, from: `+${message.from}`, at }];
    expect((await subject?.read())?.reactions).toEqual(reactions);
  }
  if (effect.receipt) {
    expect((await subject?.read())?.status).toBe(effect.receipt);
  }
  if (effect.move) {
    expect((await contactOf(`${effect.move.to}${repetition}`))?.id).toBe(known?.id);
  }
  if (effect.nothing) {
    expect(after).toEqual(before);
  }
}

/** A person who writes with this number or id. */
async function meet(key: string) {
  const ids = key.startsWith("US.") ? { from: undefined, from_user_id: key } : { from: key.slice(1) };
  await deliver(app, inbox, messagesChange({ messages: [inboundText("Hi", ids)] }));
  return contactOf(key);
}

describe("Meta's own example", () => {
  const effects: Record<string, Effect> = {
    "Text Message": text("Does it come in another color?"),
    "Text Message with Context (Product Inquiry)": {
      message: {
        text: { body: "Is this still available?" },
        referred_product: { catalog_id: "194836987003835", product_id: "di9ozbzfi4" },
      },
    },
    "Text Message from Click to WhatsApp Ad": {
      message: {
        type: "text",
        referral: {
          source_type: "ad",
          source_id: "120226305854810726",
          source_url: "https://fb.me/3cr4Wqqkv",
          headline: "Chat with us",
          body: "Summer Succulents are here!",
          click_id: expect.stringMatching(/^Aff-/),
        },
        channel_data: {
          referral: {
            media_type: "image",
            image_url: expect.any(String),
            welcome_message: expect.any(Object),
          },
        },
      },
    },
    "Reaction Message": { reaction: "👍" },
    "Image Message": {
      message: {
        type: "image",
        media: { caption: "Taj Mahal" },
        channel_data: { image: { sha256: "SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=" } },
      },
    },
    "Location Message": {
      message: {
        type: "location",
        location: {
          latitude: 37.44221496582,
          longitude: expect.closeTo(-122.161659),
          url: "https://philzcoffee.com/",
        },
        summary: expect.stringContaining(
          "Location: Philz Coffee, 101 Forest Ave, Palo Alto, CA 94301, 37.4422",
        ),
      },
    },
    "Contact Sharing Message": {
      message: {
        type: "contacts",
        contacts: [
          { name: "Lucía Gómez", organization: "Google", phones: ["+1 (983) 555-2319"], emails: [] },
        ],
        summary: "Contact: Lucía Gómez, Google, +1 (983) 555-2319",
        channel_data: {
          contacts: [{ phones: [{ wa_id: expect.stringMatching(/^1983555/), type: "MOBILE" }] }],
        },
      },
    },
    "Unsupported Message": {
      message: {
        type: "unsupported",
        unsupported: { type: "unsupported", reason: "Message type is currently not supported." },
        channel_data: { errors: [{ code: 131051 }] },
      },
    },
    "Button Message": reply("Unsubscribe", "Unsubscribe"),
    "Interactive List Reply Message": {
      message: {
        type: "interactive",
        reply: {
          id: "priority_express",
          title: "Priority Mail Express",
          description: "Next Day to 2 Days",
        },
      },
    },
    "Interactive Button Reply Message": reply("cancel-button", "Cancel"),
    "Order Message": {
      message: {
        type: "order",
        order: {
          catalog_id: "194836987003835",
          note: null,
          items: [
            { product_id: "di9ozbzfi4", quantity: 2, price: 30, currency: "USD" },
            { product_id: "nqryix03ez", quantity: 1, price: 25, currency: "USD" },
          ],
        },
        summary: "Order: 2 × di9ozbzfi4 at 30 USD, 1 × nqryix03ez at 25 USD",
      },
    },
    "System Message": { move: { from: "+16505551", to: "+12195555" } },
    "Group Create Message": { nothing: true },
    "Group Settings Update": { nothing: true },
    "Group Remove Participants": { nothing: true },
  };
  const requests = examples.operations["post /whatsapp/webhooks"];

  test("each has an expected effect", () => {
    expect(requests.map(({ name }) => name).sort()).toEqual(Object.keys(effects).sort());
  });

  test.each(requests)("$name", async ({ name, value }) => {
    await expectEffect(value, effects[name] ?? {});
  });
});

describe("a captured payload", () => {
  const effects: Record<string, Effect> = {
    "Text message": text("Hello, bot!"),
    "Image message": { message: { type: "image", media: { caption: "Check this out" } } },
    Reaction: { reaction: "👍" },
    "Interactive button reply": reply("btn_approve", "Approve"),
    "Text message with business-scoped user IDs": text("Hello from a username user"),
    "Status update (message delivered)": { receipt: "delivered" },
    "System message (user_changed_number)": { move: { from: "+15551234", to: "+15557654" } },
    "System message (user_changed_user_id)": {
      move: { from: "US.13491208655302741918", to: "US.24817305912873645029" },
    },
    "BSUID rotation (user_id_update)": {
      move: { from: "US.13491208655302741918", to: "US.24817305912873645029" },
    },
  };

  test("each has an expected effect", () => {
    expect(Object.keys(samples.payloads).sort()).toEqual(Object.keys(effects).sort());
  });

  test.each(Object.entries(samples.payloads))("%s", async (name, payload) => {
    await expectEffect(payload, effects[name] ?? {});
  });

  test("of a conversation is stored in order, and its receipt counts", async () => {
    await post(ours(replay.firstMessage));
    repetition -= 1;
    await post(ours(replay.secondMessage));
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id });
    expect(data.map((message) => message.text?.body)).toEqual(["Tell me more", "What is Vercel?"]);
    const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
    expect(conversation.inbox_id).toBe(inbox.id);
    await expectEffect(replay.statusUpdate, { receipt: "sent" });
  });
});
