/**
 * The requests that messages become: the structure of Meta's own examples, and what follows
 * from each error code.
 */
import { describe, expect, test } from "vitest";
import { errorCodes, reactionTo } from "../src/adapters/channel/whatsapp/error-codes.ts";
import { toBody } from "../src/adapters/channel/whatsapp/sending/body.ts";
import { createSend } from "../src/adapters/channel/whatsapp/sending/index.ts";
import type { MessageContent, TemplateMessage } from "../src/ports/channel/message-content.ts";
import codes from "./fixtures/whatsapp/error-codes.json" with { type: "json" };
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import { sendOptions } from "./support/simulator-memory.ts";

const file = { key: "org/file", content_type: "", size: 0, read: async () => undefined };
type Type = "image" | "video" | "document" | "audio";

const byId = (
  type: Type,
  caption: string | null = null,
  file_name: string | null = null,
): MessageContent => ({
  type,
  media: { url: "https://own", caption, file_name, file },
});
const byUrl = (type: Type, url: string, caption: string | null = null): MessageContent => ({
  type,
  media: { url, caption, file_name: null },
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

const list: MessageContent = {
  type: "interactive",
  interactive: {
    body: "<BODY_TEXT>",
    header: "<HEADER_TEXT>",
    footer: "<FOOTER_TEXT>",
    list: { button: "<BUTTON_TEXT>", sections: [section(1), section(2)] },
  },
};
const choice = (index: number) => ({ id: `<UNIQUE_BUTTON_ID_${index}>`, title: `<BUTTON_TITLE_${index}>` });
const buttons: MessageContent = {
  type: "interactive",
  interactive: { body: "<BUTTON_TEXT>", buttons: [choice(1), choice(2)] },
};
const template = (more: Partial<TemplateMessage>): MessageContent => ({
  type: "template",
  template: {
    name: "hello_world",
    language: "en_US",
    header: null,
    body: "",
    footer: null,
    buttons: [],
    values: { header: [], body: [], buttons: [] },
    ...more,
  },
});

/** What this service's contract can express of the examples, with their placeholders. */
const contents: Record<string, MessageContent> = {
  "Send Audio Message by ID": byId("audio"),
  "Send Audio Message by URL": byUrl("audio", "<http(s)://audio-url>"),
  "Send Document Message by ID": byId("document", "<DOCUMENT_CAPTION_TO_SEND>", "<DOCUMENT_FILENAME>"),
  "Send Document Message by URL": byUrl("document", "<http(s)://document-url>", "<DOCUMENT-CAPTION-TEXT>"),
  "Send Image Message by ID": byId("image"),
  "Send Image Message by URL": byUrl("image", "http(s)://image-url"),
  "Send List Message": list,
  "Send Reply Button": buttons,
  "Send Test Message": template({}),
  "Send Text Message": { type: "text", text: { body: "text-message-content" } },
  "Send Text Message with Preview URL": {
    type: "text",
    text: { body: "Please visit https://youtu.be/hpltvTEiRrY." },
  },
  "Send Video Message by ID": byId("video", "<VIDEO_CAPTION_TEXT>"),
  "Send Video Message by URL": byUrl("video", "<http(s)://video-url>", "<VIDEO_CAPTION_TEXT>"),
};

const requests = examples.operations["post /{Version}/{Phone-Number-ID}/messages"];

const account = {
  account_id: "1",
  business_id: "2",
  app_id: "3",
  credentials: {
    phone_number_id: "1",
    waba_id: "2",
    app_id: "3",
    access_token: "",
    app_secret: "",
    verify_token: "",
  },
};

const message = {
  organization_id: "org",
  from: "+1",
  account,
  token: "msg_1",
  refusals: 0,
  is_bulk: false,
};

function write(content: MessageContent, { to = "{{Recipient-Phone-Number}}", id = "" } = {}) {
  const body = toBody({ ...message, to: { kind: "phone", value: to }, content }, new Map([[file.key, id]]));
  return JSON.parse(JSON.stringify(body));
}

describe("Meta's example", () => {
  test.each(Object.keys(contents))("%s", (name) => {
    const value: Record<string, unknown> = { ...requests.find((one) => one.name === name)?.value };
    const type = String(value.type ?? "text");
    // We leave previews to their default.
    const { preview_url: _, ...part } = value[type] as Record<string, unknown>;
    const body = write(contents[name] ?? template({}), { id: String(part.id ?? "") });
    // Optional in the examples; ours are always sent.
    const added = { recipient_type: "individual", biz_opaque_callback_data: "msg_1", type };
    expect(body).toEqual({ ...value, ...added, [type]: part });
  });
});

test("a template has its header's file, its values, and the payloads of its buttons", () => {
  const content = template({
    name: "Order_Update",
    header: { type: "document", media: { url: "https://own", file_name: "bill.pdf", file } },
    buttons: [
      { type: "quick_reply", text: "Yes", payload: "confirm" },
      { type: "quick_reply", text: "No" },
      { type: "url", text: "Track", url: "https://example.com/{{1}}" },
    ],
    values: { header: [], body: ["Ann", "860198"], buttons: [{ index: 2, value: "860198" }] },
  });
  expect(write(content, { id: "4711" }).template).toEqual({
    name: "order_update",
    language: { code: "en_US" },
    components: [
      {
        type: "header",
        parameters: [{ type: "document", document: { id: "4711", filename: "bill.pdf" } }],
      },
      {
        type: "body",
        parameters: [
          { type: "text", text: "Ann" },
          { type: "text", text: "860198" },
        ],
      },
      { type: "button", sub_type: "url", index: "2", parameters: [{ type: "text", text: "860198" }] },
      {
        type: "button",
        sub_type: "quick_reply",
        index: "0",
        parameters: [{ type: "payload", payload: "confirm" }],
      },
    ],
  });
});

test("a text header of a template has its value", () => {
  const header = { type: "text", text: "Order 5" } as const;
  const content = template({ header, values: { header: ["5"], body: [], buttons: [] } });
  expect(write(content).template).toMatchObject({
    components: [{ type: "header", parameters: [{ type: "text", text: "5" }] }],
  });
});

test("a message for which there is no connection was certainly not sent, and is tried again", async () => {
  const settings = { baseUrl: "http://127.0.0.1:1", version: "v26.0", mediaHosts: [] };
  const send = createSend(settings, () => new Date());
  const content = contents["Send Text Message"] ?? template({});
  const result = await send(
    { ...message, content, to: { kind: "phone", value: "+14155550123" } },
    sendOptions,
  );
  expect(result).toMatchObject({ outcome: "busy", retryAfterMs: 10_000 });
});

describe("an error code", () => {
  const reactions: Record<string, string> = {
    backoff: "wait",
    backoff_limited: "wait_briefly",
    backoff_pair: "wait_for_recipient",
    no_retry: "refuse",
    send_template: "refuse",
    suppress_marketing: "refuse",
    after_24h: "refuse",
    fix_media: "refuse",
    use_phone: "refuse",
    resync_template: "sync_template",
    pause_template: "sync_template",
    alert_token: "stop",
    alert_config: "stop",
    stop_account: "stop",
    pause_sender: "stop",
  };
  // Those of creating templates, and of inbound files, are not answers to a message.
  const sent = Object.entries(codes.codes).filter(
    ([, { class: kind, where }]) => kind !== "template_create" && where !== "webhook",
  );

  test.each(sent)("%s", (code, { action }) => {
    expect(errorCodes[Number(code)]?.title).toMatch(/./);
    const error = { code: Number(code), subcode: null, isTransient: false };
    expect(reactionTo(error).reaction).toBe(reactions[action]);
  });

  test.each([
    ["of a permission", { code: 200, subcode: null, isTransient: false }, "stop"],
    ["of an unknown object", { code: 100, subcode: 33, isTransient: false }, "stop"],
    ["that is new", { code: 139999, subcode: null, isTransient: false }, "refuse"],
    ["that is new and may pass", { code: 139999, subcode: null, isTransient: true }, "wait_briefly"],
  ])("%s", (_, error, reaction) => {
    expect(reactionTo(error).reaction).toBe(reaction);
  });
});
