/** Templates with parts that only WhatsApp Manager creates: added, sent with values, and not changed. */
import { describe, expect, test } from "vitest";
import { fromComponents } from "../src/adapters/channel/whatsapp/templates/components.ts";
import { templates } from "../tools/templates/index.ts";
import { uploads } from "../tools/uploads.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createEmulatedTemplates } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { jpeg } from "./support/files.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const whatsApp = useEmulatedWhatsApp();
const { find, send, createAtMeta, uploadSample } = createEmulatedTemplates(whatsApp);

const body = { type: "BODY", text: "Our canoes are at the lake." };
const reply = (text: string) => ({ type: "QUICK_REPLY", text });
const text = (value: string) => ({ type: "text", text: value });

async function expectReadOnly(name: string, parts: string): Promise<void> {
  const { app } = whatsApp();
  const { id, is_read_only, warnings } = await find(name);
  expect({ is_read_only, warnings }).toEqual({ is_read_only: true, warnings: [] });
  const change = { id, template_data: { body: "Our canoes are in the shed." } };
  const failure = await expectFailure(app.call(templates.update_template, change));
  expect(failure).toMatchObject({ status: 422, code: "template_read_only" });
  expect(failure.message).toContain(parts);
}

async function messagesOf(refused: Promise<unknown>): Promise<string> {
  const failure = await expectFailure(refused);
  expect(failure).toMatchObject({ status: 422, code: "template_values_mismatch" });
  return failure.error?.details?.map(({ message }) => message).join(" ") ?? "";
}

describe("a template with ten buttons", () => {
  const buttons = [
    ...["A", "B", "C", "D", "E", "F"].map(reply),
    { type: "URL", text: "One", url: "https://example.com/{{1}}", example: ["x"] },
    { type: "URL", text: "Two", url: "https://example.org/{{1}}", example: ["y"] },
    { type: "PHONE_NUMBER", text: "Call", phone_number: "+14155550100" },
    { type: "COPY_CODE", example: "LAKE25" },
  ];

  test("is added with the variables of all of them, and can't be changed", async () => {
    const { synced } = await createAtMeta({
      name: "ten",
      category: "MARKETING",
      components: [body, { type: "BUTTONS", buttons }],
    });
    expect(synced.skipped).toEqual([]);
    const { template_data, variables } = await find("ten");
    expect(template_data.buttons?.map(({ type }) => type).slice(5)).toEqual([
      "quick_reply",
      "url",
      "url",
      "phone_number",
      "copy_code",
    ]);
    expect(variables.map(({ name, button_index }) => [name, button_index])).toEqual([
      ["button_6_1", 6],
      ["button_7_1", 7],
      ["button_9_code", 9],
    ]);
    await expectReadOnly("ten", "10 buttons");
  });

  test("is sent with their values, and names the missing ones", async () => {
    const variables = { button_6_1: "a", button_7_1: "b", button_9_code: "CANOE10" };
    const { components, status } = await send("ten", { variables });
    expect(components).toEqual([
      { type: "button", sub_type: "url", index: "6", parameters: [text("a")] },
      { type: "button", sub_type: "url", index: "7", parameters: [text("b")] },
      {
        type: "button",
        sub_type: "copy_code",
        index: "9",
        parameters: [{ type: "coupon_code", coupon_code: "CANOE10" }],
      },
    ]);
    expect(status).toBe("sent");
    expect(await messagesOf(send("ten", { variables: { button_6_1: "a" } }))).toBe(
      "the value of button_7_1 is missing. the value of button_9_code is missing.",
    );
  });
});

describe("a limited-time offer", () => {
  const expires_at = "2030-12-24T18:00:00Z";
  const values = { offer_expires_at: expires_at, button_0_code: "CANOE10", button_1_1: "x" };
  const expiration = {
    type: "limited_time_offer",
    parameters: [
      { type: "limited_time_offer", limited_time_offer: { expiration_time_ms: Date.parse(expires_at) } },
    ],
  };

  test("is added, and can't be changed", async () => {
    const { synced } = await createAtMeta({
      name: "offer",
      category: "MARKETING",
      components: [
        { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Ends soon!", has_expiration: true } },
        body,
        {
          type: "BUTTONS",
          buttons: [
            { type: "COPY_CODE", example: "LAKE25" },
            { type: "URL", text: "Book", url: "https://example.com/{{1}}", example: ["y"] },
          ],
        },
      ],
    });
    expect(synced.skipped).toEqual([]);
    const { template_data, variables } = await find("offer");
    expect(template_data.offer).toEqual({ text: "Ends soon!", has_expiration: true });
    expect(variables.map(({ name }) => name)).toEqual(["button_0_code", "button_1_1", "offer_expires_at"]);
    await expectReadOnly("offer", "a limited-time offer");
  });

  test("is sent with its end and its code, by name or as components", async () => {
    const { components, shown, status } = await send("offer", { variables: values });
    expect(components).toContainEqual(expiration);
    expect(shown.offer).toEqual({ text: "Ends soon!", expires_at });
    expect(status).toBe("sent");
    const asComponents = [
      expiration,
      {
        type: "button",
        sub_type: "copy_code",
        index: 0,
        parameters: [{ type: "coupon_code", coupon_code: "A" }],
      },
      { type: "button", sub_type: "url", index: 1, parameters: [text("x")] },
    ];
    expect((await send("offer", { components: asComponents })).components).toContainEqual(expiration);
  });

  test.each([
    ["no end", { ...values, offer_expires_at: undefined }, "the value of offer_expires_at is missing."],
    [
      "an end without a zone",
      { ...values, offer_expires_at: "2030-12-24 18:00" },
      "offer_expires_at is a time",
    ],
    ["a code that is too long", { ...values, button_0_code: "A".repeat(16) }, "at most 15 characters"],
  ])("%s is named", async (_, variables, message) => {
    expect(await messagesOf(send("offer", { variables }))).toContain(message);
  });
});

describe("a carousel", () => {
  const card = (header_handle: string, product: string) => ({
    components: [
      { type: "HEADER", format: "IMAGE", example: { header_handle: [header_handle] } },
      { type: "BODY", text: `${product} for {{1}} a day.`, example: { body_text: [["$10"]] } },
      {
        type: "BUTTONS",
        buttons: [
          reply("More"),
          { type: "URL", text: "Book", url: "https://example.com/{{1}}", example: ["x"] },
        ],
      },
    ],
  });
  // Nothing listens there.
  const image = "http://127.0.0.1:1/canoe.png";
  const variables = {
    "1": "Ann",
    card_0_media_url: image,
    card_0_1: "$10",
    card_0_button_1_1: "red",
    card_1_media_url: image,
    card_1_1: "$12",
    card_1_button_1_1: "blue",
  };
  const sentCard = (card_index: number, price: string, path: string) => ({
    card_index,
    components: [
      { type: "header", parameters: [{ type: "image", image: { link: image } }] },
      { type: "body", parameters: [text(price)] },
      { type: "button", sub_type: "url", index: "1", parameters: [text(path)] },
    ],
  });

  test("is added with the variables of its cards, and can't be changed", async () => {
    const handle = await uploadSample();
    const { created, synced } = await createAtMeta({
      name: "canoes",
      category: "MARKETING",
      components: [
        { type: "BODY", text: "Hello {{1}}, our canoes.", example: { body_text: [["Ann"]] } },
        { type: "CAROUSEL", cards: [card(handle, "The red one"), card(handle, "The blue one")] },
      ],
    });
    expect(created).toMatchObject({ status: "PENDING" });
    expect(synced.skipped).toEqual([]);
    const { template_data, variables: found } = await find("canoes");
    expect(template_data.cards?.map((one) => one.body)).toEqual([
      "The red one for {{1}} a day.",
      "The blue one for {{1}} a day.",
    ]);
    expect(found.map(({ name }) => name)).toEqual(Object.keys(variables));
    await expectReadOnly("canoes", "a carousel");
  });

  test("is sent with the values of its cards, by name or as components", async () => {
    const { components, shown } = await send("canoes", { variables });
    const carousel = { type: "carousel", cards: [sentCard(0, "$10", "red"), sentCard(1, "$12", "blue")] };
    expect(components).toEqual([{ type: "body", parameters: [text("Ann")] }, carousel]);
    expect(shown.cards[1]).toMatchObject({
      header: { type: "image", media: { url: image } },
      body: "The blue one for $12 a day.",
      buttons: [{ text: "More" }, { text: "Book", url: "https://example.com/blue" }],
    });
    const again = await send("canoes", { components });
    expect(again.components).toEqual(components);
    const [first, ...others] = carousel.cards;
    const payload = {
      type: "button",
      sub_type: "quick_reply",
      index: "0",
      parameters: [{ type: "payload", payload: "red" }],
    };
    const withPayload = {
      ...carousel,
      cards: [{ ...first, components: [...(first?.components ?? []), payload] }, ...others],
    };
    const tapped = await send("canoes", { components: [components[0], withPayload] });
    expect(tapped.components[1].cards[0].components).toContainEqual(payload);
  });

  test("takes an upload as the file of a card, which WhatsApp gets by its id", async () => {
    const content_base64 = jpeg.toString("base64");
    const { data } = await whatsApp().app.call(uploads.upload_file, { content_base64, file_name: "a.jpg" });
    const { storage_url } = data;
    const { components, status } = await send("canoes", {
      variables: { ...variables, card_0_media_url: storage_url, card_1_media_url: storage_url },
    });
    expect(components[1].cards[1].components[0]).toEqual({
      type: "header",
      parameters: [{ type: "image", image: { id: expect.stringMatching(/^\d+$/) } }],
    });
    expect(status).toBe("sent");
  });

  test("is sent by a broadcast", async () => {
    const { app, emulator, advance } = whatsApp();
    const { createCohort, create, execute } = createBroadcastHelpers(app);
    const { cohort } = await createCohort(["+14155550177"]);
    const variable_mapping = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [
        name,
        { attribute: "metadata.none", default: value },
      ]),
    );
    const { id: template_id } = await find("canoes");
    const input = { name: "Canoes", cohort_id: cohort.id, template_id, variable_mapping };
    await execute((await create(input)).id);
    await advance(5_000);
    await app.runDueJobs();
    const answer = await fetch(`${emulator.url}/emulator/messages?limit=1`);
    const [message] = ((await answer.json()) as Json).data;
    expect(message).toMatchObject({
      to: "+14155550177",
      body: {
        template: { components: [{}, { cards: [sentCard(0, "$10", "red"), sentCard(1, "$12", "blue")] }] },
      },
    });
  });

  test("names what is missing or does not fit", async () => {
    const { card_1_1: _, card_0_media_url: __, ...rest } = variables;
    expect(await messagesOf(send("canoes", { variables: rest }))).toBe(
      "the value of card_0_media_url is missing. the value of card_1_1 is missing.",
    );
    const spaced = { ...variables, card_0_button_1_1: "a b", card_1_media_url: "canoe.png" };
    const messages = await messagesOf(send("canoes", { variables: spaced }));
    expect(messages).toContain("the value of card_0_button_1_1 is part of an address");
    expect(messages).toContain("the value of card_1_media_url is the public address of a file");
    const { components } = await send("canoes", { variables });
    const [ofBody, carousel] = components;
    const one = { ...carousel, cards: carousel.cards.slice(0, 1) };
    expect(await messagesOf(send("canoes", { components: [ofBody, one] }))).toContain(
      "the body of card 1 has 1 variables, and components gives 0 values for it.",
    );
  });
});

test("the sample of a card that Meta gives an address is what a message shows by default", () => {
  const sample = "https://scontent.example.com/canoe.png";
  const cards = ["a", "b"].map((name) => ({
    components: [
      { type: "HEADER", format: "IMAGE", example: { header_handle: [`${sample}?${name}`] } },
      { type: "BODY", text: "A canoe." },
    ],
  }));
  const read = fromComponents([body, { type: "CAROUSEL", cards }], "POSITIONAL");
  expect(read).toMatchObject({
    template_data: { cards: [{ header: { type: "image", media_url: `${sample}?a` }, body: "A canoe." }, {}] },
    variables: [
      { name: "card_0_media_url", component: "CARD_HEADER", card_index: 0, example: `${sample}?a` },
      { name: "card_1_media_url" },
    ],
  });
});

test("a carousel of products is named as skipped", async () => {
  const components = [
    { components: [{ type: "HEADER", format: "PRODUCT" }] },
    { components: [{ type: "HEADER", format: "PRODUCT" }] },
  ];
  expect(fromComponents([body, { type: "CAROUSEL", cards: components }], "POSITIONAL")).toBeNull();
});
