/** What can be sent besides texts and files: what is rejected, and what lists, searches and phones show. */
import { describe, expect, test } from "vitest";
import { sampleFiles } from "../emulator/control/sample-files.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { mp3 } from "./support/files.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const app = useTestApp();
const to = "+14155550188";

const post = async (body: object) => {
  const headers = { "content-type": "application/json" };
  const answer = await app.fetch("/v1/messages", {
    method: "POST",
    headers,
    body: JSON.stringify({ to, ...body }),
  });
  const parsed: Json = await answer.json();
  return { status: answer.status, body: parsed };
};

const place = { latitude: 52.5163, longitude: 13.3777, name: "Our shop" };
const card = { name: "Ann Lee", organization: "Repairs", phones: [{ phone: "+14155550199", type: "WORK" }] };
const interactive = (content: object) => ({
  type: "interactive",
  interactive: { body: "Hello", ...content },
});
const link = { title: "Open", url: "https://example.com" };
const image = { type: "image", url: "https://example.com/a.png" };

describe("a message is rejected", () => {
  test.each([
    [
      "of type location without it",
      { type: "location" },
      "location: A message of type location needs location",
    ],
    [
      "with a latitude outside of the earth",
      { type: "location", location: { ...place, latitude: 91 } },
      "latitude",
    ],
    ["with six cards", { type: "contacts", contacts: Array(6).fill(card) }, "contacts"],
    [
      "with a caption of a sticker",
      { type: "sticker", media_url: "https://example.com/a.webp", caption: "Hi" },
      "caption: A sticker has no caption",
    ],
    [
      "with voice in an image",
      { type: "image", media_url: "https://example.com/a.png", voice: true },
      "voice: Send voice only with type audio",
    ],
    ["that offers nothing", interactive({}), "Send exactly one of buttons, list, link"],
    ["that offers two things", interactive({ link, location_request: true }), "Send exactly one of"],
    [
      "with a header of a location request",
      interactive({ location_request: true, header: "Hi" }),
      "has no header",
    ],
    [
      "with a picture above a list",
      interactive({
        list: { button: "All", sections: [{ rows: [{ id: "1", title: "One" }] }] },
        header_media: image,
      }),
      "has no header_media",
    ],
    [
      "with two headers",
      interactive({ link, header: "Hi", header_media: image }),
      "either header or header_media",
    ],
    [
      "with products and no header",
      interactive({ products: { catalog_id: "1", sections: [{ title: "All", product_ids: ["1"] }] } }),
      "needs a header",
    ],
    [
      "with a form that has no id",
      interactive({ form: { button: "Begin" } }),
      "Send either flow_id or flow_name",
    ],
    [
      "with an address that is no web address",
      interactive({ link: { title: "Open", url: "javascript:alert(1)" } }),
      "url",
    ],
  ])("%s", async (_, body, text) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.error.message).toContain(text);
  });
});

test("a location and cards have a summary, which the phone, lists and searches show", async () => {
  const sent = await post({ type: "location", location: place });
  await post({ type: "contacts", contacts: [card] });
  await app.runDueJobs();
  const { conversation_id } = sent.body.data;
  const { data } = await app.call(messages.list_messages, { conversation_id });
  expect(data.map(({ summary }) => summary)).toEqual([
    "Contact: Ann Lee, Repairs, +14155550199",
    "Location: Our shop, 52.5163, 13.3777",
  ]);
  expect(data[0]).toMatchObject({
    type: "contacts",
    contacts: [{ name: "Ann Lee", organization: "Repairs", phones: ["+14155550199"], emails: [] }],
  });
  const phone = await app.fetch(`/simulator/phones/${encodeURIComponent(to)}/messages`);
  const { data: shown } = (await phone.json()) as { data: { summary?: string }[] };
  expect(shown.map(({ summary }) => summary)).toEqual(data.map(({ summary }) => summary));
  const found = await app.call(messages.search_messages, { query: "our shop" });
  expect(found.data.conversations.map(({ id }) => id)).toEqual([conversation_id]);
});

test("a long summary is cut, and no character of it is halved", async () => {
  const location = { ...place, name: "N", address: "😀".repeat(512) };
  const { status, body } = await post({ type: "location", location });
  expect(status).toBe(201);
  const { conversation_id } = body.data;
  const [message] = (await app.call(messages.list_messages, { conversation_id })).data;
  expect(message?.summary).toBe(`Location: N, ${"😀".repeat(493)}`);
  const { data } = await app.call(conversations.list_conversations, {});
  const listed = data.find(({ id }) => id === conversation_id);
  expect(listed?.last_message?.text).toBe(`Location: N, ${"😀".repeat(53)}…`);
});

describe("a file", () => {
  test("that is no Ogg file is no voice message", async () => {
    const content_base64 = mp3.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.mp3" });
    const failure = await expectFailure(
      app.call(messages.send_message, { to, type: "audio", media_url: data.storage_url, voice: true }),
    );
    expect(failure).toMatchObject({ status: 422, code: "media_not_sendable" });
    expect(failure.message).toContain("as voice: it is audio/mpeg.");
  });

  test("of WebP is sent as a sticker, and as no image", async () => {
    const content_base64 = sampleFiles.sticker.bytes.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.webp" });
    const sticker = { to, type: "sticker", media_url: data.storage_url } as const;
    expect((await app.call(messages.send_message, sticker)).data.type).toBe("sticker");
    expect(await expectFailure(app.call(messages.send_message, { ...sticker, type: "image" }))).toMatchObject(
      {
        code: "media_not_sendable",
      },
    );
  });

  test("of our store is the header of buttons, and its key is not shown", async () => {
    const content_base64 = sampleFiles.image.bytes.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.jpg" });
    const header_media = { type: "image", url: data.storage_url } as const;
    const buttons = [{ id: "y", title: "Yes" }];
    const sent = await app.call(messages.send_message, {
      to,
      type: "interactive",
      interactive: { body: "Like this?", header_media, buttons },
    });
    await app.runDueJobs();
    const { conversation_id, id: message_id } = sent.data;
    const { data: message } = await app.call(messages.get_message, { conversation_id, message_id });
    expect(message).toMatchObject({
      status: "sent",
      interactive: { body: "Like this?", header_media, buttons },
    });
    expect(JSON.stringify(message)).not.toContain("header_upload");
  });
});
