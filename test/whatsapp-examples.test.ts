/**
 * How each of Meta's own examples of a message is sent by our API: the request that reaches the Graph API is
 * the example. What can't be expressed has its reason.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { sampleFiles } from "../emulator/control/sample-files.ts";
import { code, table } from "../scripts/docs/markdown.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { jpeg, mp4, ogg, pdf } from "./support/files.ts";
import { readTableBelow } from "./support/page-table.ts";
import { contacts, type ExampleContent, location } from "./support/sent-examples.ts";
import { deliver, type GraphApi, type Inbox, openWindow, useWhatsApp } from "./support/whatsapp.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;

const person = "14155550123";
const to = `+${person}`;

type Input = InputOf<typeof messages.send_message>;

/** The id that WhatsApp gives to our upload of each type. */
const mediaIds: Record<string, string> = {};
/** Our uploads, by the type of the message. */
const files: Record<string, string> = {};

const address = (type: string) => `https://files.example/${type}`;

useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
});
beforeAll(async () => {
  const contents = {
    image: ["a.jpg", jpeg, "image/jpeg"],
    video: ["a.mp4", mp4, "video/mp4"],
    document: ["a.pdf", pdf, "application/pdf"],
    audio: ["a.ogg", ogg, "audio/ogg"],
    sticker: ["a.webp", sampleFiles.sticker.bytes, "image/webp"],
  } as const;
  graph.routes["POST media"] = ({ body }) => {
    const form = (body as Buffer).toString("latin1");
    const type = Object.entries(contents).find(([, [, , one]]) => form.includes(`\r\n${one}\r\n`))?.[0];
    return { body: { id: mediaIds[type ?? ""] } };
  };
  for (const [type, [file_name, bytes]] of Object.entries(contents)) {
    const content_base64 = bytes.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name });
    files[type] = data.storage_url;
  }
  graph.routes["GET message_templates"] = () => ({ body: { data: [helloWorld] } });
  const report = { event: "APPROVED", message_template_id: 1, message_template_name: "hello_world" };
  const value = { ...report, message_template_language: "en_US" };
  await deliver(app, inbox, { field: "message_template_status_update", value });
  await openWindow(app, inbox, person);
});

const helloWorld = {
  id: "1",
  name: "hello_world",
  language: "en_US",
  status: "APPROVED",
  category: "UTILITY",
  components: [{ type: "BODY", text: "Welcome and congratulations!" }],
};

const media = (
  type: "image" | "video" | "document" | "audio" | "sticker",
  more: Partial<ExampleContent> = {},
) => ({
  url: { type, media_url: address(type), ...more },
  id: () => ({ type, media_url: files[type] ?? "", ...more }),
});
const image = media("image");
const video = media("video", { caption: "<VIDEO_CAPTION_TEXT>" });
const audio = media("audio");
const sticker = media("sticker");
const document = media("document", {
  caption: "<DOCUMENT_CAPTION_TO_SEND>",
  file_name: "<DOCUMENT_FILENAME>",
});
const documentAt = (caption: string): ExampleContent => ({
  type: "document",
  media_url: address("document"),
  caption,
});

const row = (section: number, index: number) => ({
  id: `<LIST_SECTION_${section}_ROW_${index}_ID>`,
  title: `<SECTION_${section}_ROW_${index}_TITLE>`,
  description: `<SECTION_${section}_ROW_${index}_DESC>`,
});
const section = (number: number) => ({
  title: `<LIST_SECTION_${number}_TITLE>`,
  rows: [row(number, 1), row(number, 2)],
});
const list: ExampleContent = {
  type: "interactive",
  interactive: {
    body: "<BODY_TEXT>",
    header: "<HEADER_TEXT>",
    footer: "<FOOTER_TEXT>",
    list: { button: "<BUTTON_TEXT>", sections: [section(1), section(2)] },
  },
};
const choice = (index: number) => ({ id: `<UNIQUE_BUTTON_ID_${index}>`, title: `<BUTTON_TITLE_${index}>` });

const interactive = (content: NonNullable<ExampleContent["interactive"]>): ExampleContent => ({
  type: "interactive",
  interactive: content,
});
const [flow_id, flow_name] = ["{{Flow-ID}}", "{{Flow-Name}}"];
const texts = { header: "<HEADER_TEXT>", body: "<BODY_TEXT>", footer: "<FOOTER_TEXT>" };
const draftText = "Not shown in draft mode";
const draftTexts = { header: draftText, body: draftText, footer: draftText };
const form = {
  screen: "<SCREEN_ID>",
  data: { "<CUSTOM_KEY>": "<CUSTOM_VALUE>" },
  token: "<FLOW_TOKEN>",
};
const published = { ...form, button: "Open Flow!" };
const draft = { ...form, button: draftText, draft: true as const };
const bread =
  "https://upload.wikimedia.org/wikipedia/commons/thumb/3/3b/Home_made_sour_dough_bread.jpg/640px-Home_made_sour_dough_bread.jpg";
const optional = { amount: 1, description: "optional_text" };

/** What the API is called with. A function is called after the uploads. */
const expressed: Record<string, ExampleContent | (() => ExampleContent)> = {
  "Send Audio Message by ID": audio.id,
  "Send Audio Message by URL": audio.url,
  "Send Catalog Message": interactive({
    body: "Hello! Thanks for your interest. Ordering is easy. Just visit our catalog and add items to purchase.",
    footer: "Best grocery deals on WhatsApp!",
    catalog: { thumbnail_product_id: "2lc20305pt" },
  }),
  "Send Contact Message": contacts,
  "Send Document Message by ID": document.id,
  "Send Document Message by URL": documentAt("<DOCUMENT-CAPTION-TEXT>"),
  "Send Draft Flow by ID": interactive({ ...draftTexts, form: { ...draft, flow_id } }),
  "Send Draft Flow by Name": interactive({ ...draftTexts, form: { ...draft, flow_name } }),
  "Send Image Message by ID": image.id,
  "Send Image Message by URL": image.url,
  "Send List Message": list,
  "Send Location Message": location,
  "Send Multi-Product Message": interactive({
    header: "<YOUR_TEXT_HEADER_CONTENT>",
    body: "<YOUR_TEXT_BODY_CONTENT>",
    footer: "<YOUR_TEXT_FOOTER_CONTENT>",
    products: {
      catalog_id: "146265584024623",
      sections: [1, 2].map((number) => ({
        title: `<SECTION${number}_TITLE>`,
        product_ids: [
          `<YOUR_PRODUCT${number}_SKU_IN_CATALOG>`,
          `<YOUR_SECOND_PRODUCT${number}_SKU_IN_CATALOG>`,
        ],
      })),
    },
  }),
  "Send Order Details Message": interactive({
    body: "your-text-body-content",
    footer: "your-text-footer-content",
    header_media: { type: "image", url: bread },
    order_details: {
      reference_id: "unique-reference-id",
      goods: "digital",
      currency: "INR",
      payment_type: "upi",
      payment_configuration: "my-payment-config-name",
      items: [{ product_id: "1234567", name: "bread", quantity: 1, price: 15, sale_price: 10 }],
      subtotal: 10,
      tax: optional,
      shipping: optional,
      discount: { ...optional, program: "optional_text" },
      total: 11,
    },
  }),
  "Send Order Status Message": interactive({
    body: "your-text-body-content",
    order_status: {
      reference_id: "unique-reference-id-from-order-details-msg",
      status: "processing",
      description: "optional-text",
    },
  }),
  "Send Published Flow by ID": interactive({ ...texts, form: { ...published, flow_id } }),
  "Send Published Flow by Name": interactive({ ...texts, form: { ...published, flow_name } }),
  "Send Reply Button": {
    type: "interactive",
    interactive: { body: "<BUTTON_TEXT>", buttons: [choice(1), choice(2)] },
  },
  "Send Reply to Audio Message by ID": audio.id,
  "Send Reply to Audio Message by URL": audio.url,
  "Send Reply to Contact Message": contacts,
  "Send Reply to Document Message by ID": document.id,
  "Send Reply to Document Message by URL": documentAt("<DOCUMENT_CAPTION_TEXT>"),
  "Send Reply to Image Message by ID": image.id,
  "Send Reply to Image Message by URL": image.url,
  "Send Reply to List Message": list,
  "Send Reply to Location Message": location,
  "Send Reply to Sticker Message by ID": sticker.id,
  "Send Reply to Sticker Message by URL": sticker.url,
  "Send Reply to Text Message": { type: "text", text: { body: "<TEXT_MSG_CONTENT>", preview_url: false } },
  "Send Reply to Video Message by ID": video.id,
  "Send Reply to Video Message by URL": video.url,
  "Send Single Product Message": interactive({
    body: "<OPTIONAL_BODY_TEXT>",
    footer: "<OPTIONAL_FOOTER_TEXT>",
    product: { catalog_id: "367025965434465", product_id: "<ID_TEST_ITEM_1>" },
  }),
  "Send Sticker Message by ID": sticker.id,
  "Send Sticker Message by URL": sticker.url,
  "Send Test Message": { type: "template", template: { name: "hello_world", language: "en_US" } },
  "Send Text Message": { type: "text", text: { body: "text-message-content", preview_url: false } },
  "Send Text Message with Preview URL": {
    type: "text",
    text: { body: "Please visit https://youtu.be/hpltvTEiRrY.", preview_url: true },
  },
  "Send Video Message by ID": video.id,
  "Send Video Message by URL": video.url,
};

const marking = "Send typing indicator and read receipt";
/** What other operations send, and a template that is not created here. Other tests show it. */
const byOperations: Readonly<Record<string, string>> = {
  [marking]: "`update_conversation` with `is_unread: false`",
  "Send Reply with Reaction Message": "`react_to_message`",
  "Send Flow Template Message": "`send_message`: `template`, which was created in WhatsApp Manager",
};

const localized = "WhatsApp shows the fallback text of such a value: send it as the variable's value.";
const notExpressible: Record<string, string> = {
  "Send Catalog Template Message": "Templates with a catalog button can't be created here.",
  "Send Message Template Interactive": localized,
  "Send Message Template Media": localized,
  "Send Message Template Text": localized,
  "Send Sample Issue Resolution Template": "Not valid: a quick reply takes a payload, not a boolean.",
  "Send Sample Shipping Confirmation Template": localized,
  "Send Sample Text Message": localized,
};

const requests = examples.operations["post /{Version}/{Phone-Number-ID}/messages"];

test("each example is sent, or has the reason why it can't be", () => {
  const known = [...Object.keys(expressed), ...Object.keys(byOperations), ...Object.keys(notExpressible)];
  expect(requests.map(({ name }) => name).sort()).toEqual(known.sort());
  expect(known.length - Object.keys(notExpressible).length).toBe(43);
});

/** The members of the request that the example needs. */
function describeSending(name: string, example: Json): string {
  const wanted = expressed[name];
  if (wanted === undefined) {
    return byOperations[name] ?? `Not sent: ${notExpressible[name]}`;
  }
  const { type, interactive: offer } = typeof wanted === "function" ? wanted() : wanted;
  const texts = ["header", "body", "footer"];
  const offered = Object.keys(offer ?? {}).filter((member) => !texts.includes(member));
  const members = offer ? offered.map((member) => `interactive.${member}`) : [type];
  return ["`send_message`: ", members.map(code).join(", "), example.context ? ", `reply_to`" : ""].join("");
}

test("the page has how each example is sent", async () => {
  const rows = requests.map(({ name, value }) => [name, describeSending(name, value)]);
  const written = table(["Example", "How it is sent"], rows);
  expect(await readTableBelow("docs/whatsapp-examples.md", "What is sent")).toBe(written);
});

/** A message of the contact, which a reply quotes; its id at WhatsApp. */
async function receive() {
  await openWindow(app, inbox, person);
  return app.server.database.queries
    .selectFrom("messages")
    .selectAll()
    .where("direction", "=", "inbound")
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
}

/** One example has a placeholder. */
function withTypeOfHeader(content: Json): Json {
  const { header } = content;
  return header ? { ...content, header: { ...header, type: header.image ? "image" : "text" } } : content;
}

/** The example with our number and addresses of files. */
function withOurs(example: Json, quoted: string | null): Json {
  const type: string = example.type ?? (example.interactive ? "interactive" : "text");
  const part = example[type];
  const isFile = "link" in part && type !== "template";
  return {
    ...example,
    to,
    ...(example.context ? { context: { message_id: quoted } } : {}),
    // Optional in the examples; ours are always sent.
    type,
    recipient_type: "individual",
    biz_opaque_callback_data: expect.stringMatching(/^msg_/),
    [type]: isFile ? { ...part, link: address(type) } : withTypeOfHeader(part),
  };
}

describe("Meta's example", () => {
  test.each(Object.keys(expressed))("%s", async (name) => {
    const example: Json = requests.find((one) => one.name === name)?.value;
    const wanted = expressed[name];
    const quoted = await receive();
    const id = example[example.type]?.id;
    if (id !== undefined) {
      mediaIds[example.type] = id;
    }
    const input = typeof wanted === "function" ? wanted() : wanted;
    const reply = example.context ? { reply_to: quoted.id } : {};
    await app.call(messages.send_message, { to, inbox_id: inbox.id, ...reply, ...input } as Input);
    await app.runDueJobs();
    expect(graph.sent().at(-1)).toEqual(withOurs(example, quoted.channel_message_id));
    await app.advanceTime(6_000);
  });

  test(marking, async () => {
    const example: Json = requests.find(({ name }) => name === marking)?.value;
    const { conversation_id, channel_message_id } = await receive();
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: { read_marks: "typing" } });
    await app.call(conversations.update_conversation, { id: conversation_id, is_unread: false });
    await app.runDueJobs();
    expect(graph.sent().at(-1)).toEqual({ ...example, message_id: channel_message_id });
  });
});
