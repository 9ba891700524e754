/** A flow asks a customer on WhatsApp for a location, and answers with where it sends a repairer from. */
import { expect, test } from "vitest";
import { conversations } from "../../tools/conversations.ts";
import { messages } from "../../tools/messages/index.ts";
import { createFlowHelpers } from "../support/flows.ts";
import { useEmulatedWhatsApp } from "../support/whatsapp-channel.ts";

const started = useEmulatedWhatsApp();
const from = "14155550123";

test("the customer answers a request of a location, and the flow goes on with it", async () => {
  const { app, emulator, control, advance } = started();
  const { create } = createFlowHelpers(app);
  await create(
    [
      {
        id: "ask",
        node_type: "ask",
        action_config: {
          interactive: { body: "Where shall we come to?", location_request: true },
          save_as: "place",
        },
      },
      {
        id: "shop",
        node_type: "send_message",
        parent_node_id: "ask",
        action_config: { text: "We come to {{vars.place}}." },
      },
    ],
    { trigger_keyword: "repair" },
  );
  await control("POST", "/inbound", { from, name: "Ada", text: "repair" });
  await advance(10_000);
  const shown = async () => {
    const { data } = await control("GET", `/customers/${from}/messages`);
    return data.find(({ direction }: { direction: string }) => direction === "outbound");
  };
  expect((await shown()).body.interactive).toEqual({
    type: "location_request_message",
    body: { text: "Where shall we come to?" },
    action: { name: "send_location" },
  });

  const location = { latitude: 37.4421, longitude: -122.1616, name: "Philz Coffee" };
  await control("POST", "/inbound", { from, location });
  await emulator.idle();
  await advance(10_000);
  expect((await shown()).body.text.body).toBe("We come to Location: Philz Coffee, 37.4421, -122.1616.");

  const { data: list } = await app.call(conversations.list_conversations, {});
  const { data } = await app.call(messages.list_messages, { conversation_id: list[0]?.id ?? "" });
  const received = data.find(({ type }) => type === "location");
  expect(received).toMatchObject({ direction: "inbound", location: { latitude: 37.4421 } });
});

test("an agent sends a place, a card, a link with a picture and a form, and each is delivered", async () => {
  const { app, inbox, control, advance } = started();
  const to = `+${from}`;
  const sends = [
    { type: "location", location: { latitude: 52.5163, longitude: 13.3777, name: "Our shop" } },
    { type: "contacts", contacts: [{ name: "Ann Lee", phones: [{ phone: "+14155550199" }] }] },
    {
      type: "interactive",
      interactive: { body: "Pay here", link: { title: "Pay", url: "https://pay.example/1" } },
    },
    { type: "interactive", interactive: { body: "Tell us more", form: { flow_id: "1", button: "Begin" } } },
  ] as const;
  for (const content of sends) {
    const { data } = await app.call(messages.send_message, {
      to,
      inbox_id: inbox.id,
      ...structuredClone(content),
    } as never);
    await advance(10_000);
    const { conversation_id, id: message_id } = data;
    const sent = await app.call(messages.get_message, { conversation_id, message_id });
    expect([content.type, sent.data.status, sent.data.error]).toEqual([content.type, "delivered", null]);
  }
  const response_json = JSON.stringify({ size: "M" });
  await control("POST", "/inbound", { from, flow_reply: { response_json } });
  await advance(1_000);
  const { data: list } = await app.call(conversations.list_conversations, {});
  const { data } = await app.call(messages.list_messages, { conversation_id: list[0]?.id ?? "" });
  expect(
    data.slice(0, 5).map(({ type, summary, interactive }) => [type, summary ?? interactive?.body]),
  ).toEqual([
    ["form", "Form: flow, size: M"],
    ["interactive", "Tell us more"],
    ["interactive", "Pay here"],
    ["contacts", "Contact: Ann Lee, +14155550199"],
    ["location", "Location: Our shop, 52.5163, 13.3777"],
  ]);
});
