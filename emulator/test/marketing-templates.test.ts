/** Carousels and limited-time offers at the WhatsApp emulator: what is created, and what a message needs. */
import { describe, expect, test } from "vitest";
import {
  approveTemplate,
  errorOf,
  uploadSample,
  useEmulator,
  waba_id,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

const body = { type: "BODY", text: "Our canoes are cheaper." };
const offer = {
  type: "LIMITED_TIME_OFFER",
  limited_time_offer: { text: "Ends soon!", has_expiration: true },
};
const url = { type: "URL", text: "Book", url: "https://example.com" };
const code = { type: "COPY_CODE", example: "LAKE25" };
const buttons = (...all: object[]) => ({ type: "BUTTONS", buttons: all });

const create = (components: object[], category = "MARKETING") =>
  current().graph("POST", `${waba_id}/message_templates`, {
    name: "canoes",
    language: "en_US",
    category,
    components,
  });
const send = (components: object[]) =>
  current().send({
    type: "template",
    template: { name: "order_update", language: { code: "en_US" }, components },
  });

describe("a limited-time offer", () => {
  const whole = [offer, body, buttons(code, url)];

  test.each([
    ["of another category", whole, "UTILITY"],
    ["without a text", [{ type: "LIMITED_TIME_OFFER" }, body, buttons(code, url)]],
    ["with a long text", [{ ...offer, limited_time_offer: { text: "a".repeat(17) } }, body, buttons(url)]],
    ["with a long body", [offer, { type: "BODY", text: "a ".repeat(301) }, buttons(code, url)]],
    ["with a text as header", [{ type: "HEADER", format: "TEXT", text: "New" }, ...whole]],
    ["with a footer", [...whole, { type: "FOOTER", text: "Bye" }]],
    ["without an address", [offer, body, buttons(code)]],
    ["with a quick reply", [offer, body, buttons(code, url, { type: "QUICK_REPLY", text: "No" })]],
    ["with the code last", [offer, body, buttons(url, code)]],
    ["with an expiration and no code", [offer, body, buttons(url)]],
    ["with a long code", [offer, body, buttons({ ...code, example: "A".repeat(16) }, url)]],
  ])("%s is refused", async (_, components, category?: string) => {
    expect(errorOf(await create(components, category)).slice(0, 2)).toEqual([400, 100]);
  });

  test("needs its end in a message, if it shows it", async () => {
    await approveTemplate(current(), { category: "MARKETING", components: whole });
    const coupon = {
      type: "button",
      sub_type: "copy_code",
      index: "0",
      parameters: [{ type: "coupon_code", coupon_code: "A" }],
    };
    const end = (expiration_time_ms: unknown) => ({
      type: "limited_time_offer",
      parameters: [{ type: "limited_time_offer", limited_time_offer: { expiration_time_ms } }],
    });
    expect(errorOf(await send([coupon]))).toEqual([400, 131008]);
    expect(errorOf(await send([coupon, end("soon")]))).toEqual([400, 131008]);
    expect((await send([coupon, end(1_900_000_000_000)])).status).toBe(200);
  });

  test("without an expiration takes none", async () => {
    const plain = { ...offer, limited_time_offer: { text: "Ends soon!" } };
    await approveTemplate(current(), { category: "MARKETING", components: [plain, body, buttons(url)] });
    expect((await send([])).status).toBe(200);
    const end = { type: "limited_time_offer", parameters: [] };
    expect(errorOf(await send([end]))).toEqual([400, 132012]);
  });
});

describe("a carousel", () => {
  const cardOf = (handle: string, ...parts: object[]) => ({
    components: [{ type: "header", format: "image", example: { header_handle: [handle] } }, ...parts],
  });
  const priced = { type: "body", text: "For {{1}} a day.", example: { body_text: [["$10"]] } };

  test.each([
    ["of another category", 2, [], [], "UTILITY"],
    ["with one card", 1, [], []],
    ["with eleven cards", 11, [], []],
    ["with a footer beside it", 2, [], [{ type: "FOOTER", text: "Bye" }]],
    ["with a long body of a card", 2, [{ type: "BODY", text: "a ".repeat(81) }], []],
    [
      "with three buttons on a card",
      2,
      [buttons(...["A", "B", "C"].map((text) => ({ type: "QUICK_REPLY", text })))],
      [],
    ],
    ["with a code on a card", 2, [buttons(code)], []],
  ])("%s is refused", async (_, count, parts: object[], beside: object[], category?: string) => {
    const handle = await uploadSample(current());
    const cards = Array.from({ length: count }, () => cardOf(handle, ...parts));
    const answer = await create([body, ...beside, { type: "CAROUSEL", cards }], category);
    expect(errorOf(answer).slice(0, 2)).toEqual([400, 100]);
  });

  test("whose cards differ, or have no file, is refused", async () => {
    const handle = await uploadSample(current());
    const different = [cardOf(handle, priced), cardOf(handle)];
    expect(errorOf(await create([body, { type: "CAROUSEL", cards: different }]))).toEqual([400, 100]);
    const unknown = [cardOf("4::unknown"), cardOf("4::unknown")];
    expect(errorOf(await create([body, { type: "CAROUSEL", cards: unknown }]))).toEqual([400, 100]);
  });

  test("needs the file and the values of each card in a message", async () => {
    const handle = await uploadSample(current());
    const cards = [cardOf(handle, priced), cardOf(handle, priced)];
    await approveTemplate(current(), {
      category: "MARKETING",
      components: [body, { type: "CAROUSEL", cards }],
    });
    const image = {
      type: "header",
      parameters: [{ type: "image", image: { link: "http://127.0.0.1:1/a.png" } }],
    };
    const price = { type: "body", parameters: [{ type: "text", text: "$10" }] };
    const sent = (...all: object[][]) => [
      { type: "carousel", cards: all.map((components, card_index) => ({ card_index, components })) },
    ];
    expect(errorOf(await send([]))).toEqual([400, 132000]);
    expect(errorOf(await send(sent([image, price])))).toEqual([400, 132000]);
    expect(errorOf(await send(sent([image, price], [image])))).toEqual([400, 132000]);
    expect(errorOf(await send(sent([image, price], [price])))).toEqual([400, 132012]);
    expect((await send(sent([image, price], [image, price]))).status).toBe(200);
  });
});
