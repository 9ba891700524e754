/**
 * The WhatsApp emulator's webhooks: signatures, statuses, messages of customers, retries and the handshake.
 */
import { describe, expect, test } from "vitest";
import vectors from "../../test/fixtures/whatsapp/hub-signature-vectors.json" with { type: "json" };
import {
  approveTemplate,
  customer,
  errorOf,
  type Json,
  phone_number_id,
  startAt,
  useEmulator,
} from "../../test/support/whatsapp-emulator.ts";
import { serialize, sign } from "../webhooks/sign.ts";

const current = useEmulator();

describe("signatures", () => {
  test.each(vectors.valid)("$name has the value of the vector", ({ raw_body_hex, app_secret, value }) => {
    expect(sign(Buffer.from(raw_body_hex, "hex"), app_secret)).toBe(value);
  });

  test.each(vectors.must_fail)("$name does not", ({ raw_body_hex, app_secret, value }) => {
    expect(sign(Buffer.from(raw_body_hex, "hex"), app_secret)).not.toBe(value);
  });

  test("cover bytes in which all beyond ASCII is escaped", async () => {
    expect(serialize({ t: "é🎍" }).toString("latin1")).toBe('{"t":"\\u00e9\\ud83c\\udf8d"}');
    await current().control("POST", "/inbound", { from: customer, text: "é🎍" });
    await current().emulator.idle();
    expect(current().received[0]?.raw).toContain("\\u00e9\\ud83c\\udf8d");
  });
});

describe("statuses", () => {
  test("are sent and delivered by themselves, with the callback data, and the price with both", async () => {
    const { send, advance, control, statuses, changes } = current();
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    const { body } = await send({ text: { body: "Hello" }, biz_opaque_callback_data: "our-id" });
    await advance(1_000);
    const identity = { id: body.messages[0].id, recipient_id: customer, biz_opaque_callback_data: "our-id" };
    const pricing = { billable: true, pricing_model: "PMP", type: "regular", category: "service" };
    expect(statuses()).toEqual([
      expect.objectContaining({ ...identity, status: "sent", timestamp: "1795348800", pricing }),
      expect.objectContaining({ ...identity, status: "delivered", timestamp: "1795348800", pricing }),
    ]);
    expect(statuses()[0]).not.toHaveProperty("conversation");
    const metadata = { display_phone_number: "15550783881", phone_number_id };
    expect(changes("messages").at(-1).value).toMatchObject({ messaging_product: "whatsapp", metadata });
  });

  test("are read only when the customer reads", async () => {
    const { send, advance, control, statuses } = current();
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    await send();
    await advance(60_000);
    expect(statuses().map(({ status }: Json) => status)).toEqual(["sent", "delivered"]);
    await control("POST", `/customers/${customer}/read`, {});
    await advance(0);
    expect(statuses().map(({ status }: Json) => status)).toEqual(["sent", "delivered", "read"]);
    expect(statuses().at(-1)).not.toHaveProperty("pricing");
  });

  test("of a message that is read before its delivery is reported have the price with read", async () => {
    const { send, advance, control, statuses } = current();
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    await send();
    await advance(100);
    await control("POST", `/customers/${customer}/read`, {});
    await advance(1_000);
    expect(statuses().map(({ status, pricing }: Json) => [status, pricing?.type])).toEqual([
      ["sent", "regular"],
      ["read", "regular"],
    ]);
  });

  test("after a click on an ad are free for 72 hours, and have a conversation", async () => {
    const { send, advance, control, statuses } = current();
    const referral = { source_type: "ad", source_id: "1" };
    await control("POST", "/inbound", { from: customer, text: "Hi", referral });
    await send();
    await advance(1_000);
    expect(statuses()[0]).toMatchObject({
      conversation: { origin: { type: "referral_conversion" } },
      pricing: { billable: false, type: "free_entry_point" },
    });
  });

  test("of a template have its category", async () => {
    const { send, advance, statuses } = current();
    await approveTemplate(current(), {});
    await send({ type: "template", template: { name: "order_update", language: { code: "en_US" } } });
    await advance(1_000);
    expect(statuses()[0].pricing.category).toBe("utility");
  });

  test("can be reported in any order", async () => {
    const { send, advance, control, statuses } = current();
    const { body } = await send();
    const path = `/messages/${encodeURIComponent(body.messages[0].id)}/status`;
    await control("POST", path, { status: "read" });
    await control("POST", path, { status: "failed", code: 131026 });
    await advance(0);
    expect(statuses().map(({ status, errors }: Json) => [status, errors?.[0].code])).toEqual(
      expect.arrayContaining([
        ["read", undefined],
        ["failed", 131026],
      ]),
    );
  });
});

describe("a customer's message", () => {
  const inbound: Readonly<Record<string, readonly [input: object, expected: object]>> = {
    text: [{ text: "Hi" }, { type: "text", text: { body: "Hi" } }],
    image: [
      { media: { type: "image", caption: "A cat", base64: "YQ==" } },
      {
        type: "image",
        image: {
          caption: "A cat",
          mime_type: "image/jpeg",
          id: expect.stringMatching(/^\d{15}$/),
          sha256: "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=",
          url: expect.stringContaining("mid="),
        },
      },
    ],
    "voice message": [
      { media: { type: "audio", voice: true } },
      { type: "audio", audio: expect.objectContaining({ voice: true, mime_type: "audio/ogg; codecs=opus" }) },
    ],
    location: [
      { location: { latitude: 1.5, longitude: 2.5, name: "Here" } },
      { type: "location", location: { latitude: 1.5, longitude: 2.5, name: "Here" } },
    ],
    reaction: [
      { reaction: { message_id: "wamid.a", emoji: "👍" } },
      { type: "reaction", reaction: { message_id: "wamid.a", emoji: "👍" } },
    ],
    "removed reaction": [
      { reaction: { message_id: "wamid.a" } },
      { type: "reaction", reaction: { message_id: "wamid.a" } },
    ],
    contacts: [
      { contacts: [{ name: { formatted_name: "Grace" } }] },
      { type: "contacts", contacts: [{ name: { formatted_name: "Grace" } }] },
    ],
    "button reply": [
      { button_reply: { id: "yes", title: "Yes" } },
      {
        type: "interactive",
        interactive: { type: "button_reply", button_reply: { id: "yes", title: "Yes" } },
      },
    ],
    "flow reply": [
      { flow_reply: { response_json: '{"a":1}' } },
      {
        type: "interactive",
        interactive: {
          type: "nfm_reply",
          nfm_reply: { name: "flow", body: "Sent", response_json: '{"a":1}' },
        },
      },
    ],
    order: [{ order: { catalog_id: "1" } }, { type: "order", order: { catalog_id: "1" } }],
    unsupported: [
      { unsupported: { type: "poll" } },
      {
        type: "unsupported",
        unsupported: { type: "poll" },
        errors: [expect.objectContaining({ code: 131051 })],
      },
    ],
    "other type": [{ raw: { type: "edit", edit: { a: 1 } } }, { type: "edit", edit: { a: 1 } }],
  };

  test.each(Object.entries(inbound))(
    "of the type %s has the form of Meta's",
    async (_, [input, expected]) => {
      const { control, changes, emulator } = current();
      const answer = await control("POST", "/inbound", { from: customer, name: "Ada", ...input });
      await emulator.idle();
      const [{ value }] = changes("messages");
      const [{ id, user_id }] = answer.body.messages;
      expect(value.contacts).toEqual([{ profile: { name: "Ada" }, wa_id: customer, user_id }]);
      expect(value.messages).toEqual([
        { from: customer, from_user_id: user_id, id, timestamp: "1795348800", ...expected },
      ]);
    },
  );

  test("with a hidden number has the user id and the username alone", async () => {
    const { control, changes, emulator } = current();
    const sender = { user_id: "US.13491208655302741918", username: "ada", name: "Ada" };
    await control("POST", "/inbound", { ...sender, text: "Hi" });
    await emulator.idle();
    const [{ value }] = changes("messages");
    const { user_id, username, name } = sender;
    expect(value.contacts).toEqual([{ profile: { name, username }, user_id }]);
    expect(value.messages[0]).not.toHaveProperty("from");
    expect(value.messages[0].from_user_id).toBe(user_id);
  });

  test("that chooses a row of a list says from which message", async () => {
    const { control, changes, send, emulator } = current();
    const action = { button: "Choose", sections: [{ rows: [{ id: "r1", title: "Refund" }] }] };
    const interactive = { type: "list", body: { text: "How can we help?" }, action };
    const sent = await send({ type: "interactive", interactive });
    await control("POST", "/inbound", { from: customer, choose: "Refund" });
    await emulator.idle();
    expect(changes("messages")[0].value.messages[0]).toMatchObject({
      context: { from: "15550783881", id: sent.body.messages[0].id },
      interactive: { type: "list_reply", list_reply: { id: "r1", title: "Refund" } },
    });
    const unknown = await control("POST", "/inbound", { from: customer, choose: "Repair" });
    expect(unknown.status).toBe(400);
  });

  test("and others come in one webhook when they are written together", async () => {
    const { control, received, emulator } = current();
    const messages = ["one", "two", "three"].map((text) => ({ from: customer, text }));
    await control("POST", "/inbound", { messages });
    await emulator.idle();
    expect(received).toHaveLength(1);
    const [{ changes }] = received[0]?.body.entry ?? [];
    expect(changes[0].value.messages.map(({ text }: Json) => text.body)).toEqual(["one", "two", "three"]);
  });

  test("after another number is announced by a message of the system without contacts", async () => {
    const { control, changes, emulator } = current();
    await control("POST", "/inbound", { from: customer, name: "Ada", text: "Hi" });
    const answer = await control("POST", `/customers/${customer}/number`, { number: "+14155550199" });
    await emulator.idle();
    const { value } = changes("messages").find(({ value: one }: Json) => one.messages[0].type === "system");
    expect(value).not.toHaveProperty("contacts");
    expect(value.messages[0]).toMatchObject({
      from: customer,
      system: { type: "user_changed_number", wa_id: "14155550199", user_id: answer.body.user_id },
    });
  });

  test("is not taken over from another customer", async () => {
    const { control } = current();
    const other = "14155550188";
    await control("POST", "/inbound", { messages: [customer, other].map((from) => ({ from, text: "Hi" })) });
    const move = (number: string) => control("POST", `/customers/${customer}/number`, { number });
    expect(await move(other)).toMatchObject({
      status: 409,
      body: { error: { message: "number: Another customer has this number already." } },
    });
    expect(await move(customer)).toMatchObject({ status: 409 });
    expect((await control("GET", `/customers/${other}/messages`)).body.data).toHaveLength(1);
  });

  test("is marked as read by the business, which can show that it writes", async () => {
    const { control, graph, advance } = current();
    const { body } = await control("POST", "/inbound", { from: customer, text: "Hi" });
    const receipt = { messaging_product: "whatsapp", status: "read", message_id: body.messages[0].id };
    const typing = { ...receipt, typing_indicator: { type: "text" } };
    const answer = await graph("POST", `${phone_number_id}/messages`, typing);
    expect(answer.body).toEqual({ success: true });
    const shown = async () => (await control("GET", `/customers/${customer}/messages`)).body;
    expect(await shown()).toMatchObject({
      typing: [phone_number_id],
      data: [{ read_at: new Date(startAt).toISOString() }],
    });
    await advance(26_000);
    expect((await shown()).typing).toEqual([]);
    const unknown = { ...receipt, message_id: "wamid.unknown" };
    expect(errorOf(await graph("POST", `${phone_number_id}/messages`, unknown))).toEqual([400, 131009]);
  });
});
