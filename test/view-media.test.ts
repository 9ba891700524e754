/** Viewing media: what a caller gets of images, PDFs, recordings and other files, and who may view them. */
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openImageScaler } from "../src/adapters/images/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import type { Scope } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { errorAnswer, type ModelService, startModelService } from "./support/model-service.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createPdf, encryption } from "./support/pdf.ts";
import { openPhone } from "./support/simulator.ts";
import { createUploadHelpers } from "./support/uploads.ts";

/** The head of an Ogg stream, which is all that the upload checks. */
const ogg = Buffer.concat([
  Buffer.from("OggS"),
  Buffer.from([0, 2, ...Array<number>(8).fill(0), 1, ...Array<number>(11).fill(0), 1, 19]),
  Buffer.from("OpusHead"),
  Buffer.from([1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0]),
]);

const never = new AbortController().signal;
const red = { r: 200, g: 30, b: 20 };
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: red } });

/** An image that compresses badly. */
const noise = (width: number, height: number) =>
  sharp(Buffer.from(Uint8Array.from({ length: width * height * 3 }, (_, at) => (at * 7_919) ^ (at >> 3))), {
    raw: { width, height, channels: 3 },
  });

let service: ModelService;
let app: TestApp;
beforeAll(async () => {
  service = await startModelService();
  app = await startTestApp({
    env: { TIDINGS_TRANSCRIPTION_URL: service.url, TIDINGS_TRANSCRIPTION_KEY: "sk-speech" },
  });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});
beforeEach(() => {
  service.requests.length = 0;
});

async function upload(name: string, type: string, content: Uint8Array, to = app) {
  return createUploadHelpers(to).upload({ name, type, bytes: content });
}

/** The message of the expected error, and what it advises. */
async function expectRejection(call: Promise<unknown>, code: string) {
  const { code: actual, message, error } = await expectFailure(call);
  expect(actual).toBe(code);
  return { message, required_scopes: error?.required_scopes, fix: String(error?.fix) };
}

const view = async (input: { message_id?: string; upload_id?: string; page?: number }, key?: string) =>
  (await app.call(messages.view_media, input, key === undefined ? {} : { key })).data;

const sizeOf = async (base64 = "") => {
  const { width, height, format } = await sharp(Buffer.from(base64, "base64")).metadata();
  return { width, height, format };
};

describe("an image", () => {
  test.each([
    ["photo.jpg", "image/jpeg", () => picture(3_000, 1_500).jpeg().toBuffer()],
    ["photo.png", "image/png", () => picture(3_000, 1_500).png().toBuffer()],
    ["photo.webp", "image/webp", () => picture(3_000, 1_500).webp().toBuffer()],
  ])("%s is scaled down to a JPEG", async (name, type, make) => {
    const { id } = await upload(name, type, await make());
    const { kind, image, content_type, file_name } = await view({ upload_id: id });
    expect({ kind, content_type, file_name }).toEqual({ kind: "image", content_type: type, file_name: name });
    expect(image).toMatchObject({ content_type: "image/jpeg", width: 1_568, height: 784 });
    expect(await sizeOf(image?.base64)).toEqual({ width: 1_568, height: 784, format: "jpeg" });
  });

  test("is turned upright, and a transparent part is white", async () => {
    const rotated = await picture(200, 100).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { image } = await view({ upload_id: (await upload("a.jpg", "image/jpeg", rotated)).id });
    expect(image).toMatchObject({ width: 100, height: 200 });
    const clear = await sharp({
      create: { width: 8, height: 8, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    const { image: white } = await view({ upload_id: (await upload("b.png", "image/png", clear)).id });
    const { channels } = await sharp(Buffer.from(white?.base64 ?? "", "base64")).stats();
    expect(channels.map(({ min }) => min)).toEqual([255, 255, 255]);
  });

  test("that compresses badly is scaled until its base64 text has at most 1,000,000 characters", async () => {
    const { id } = await upload("noise.png", "image/png", await noise(2_000, 2_000).png().toBuffer());
    const { image } = await view({ upload_id: id });
    expect(image?.base64.length).toBeLessThanOrEqual(1_000_000);
    expect((await sizeOf(image?.base64)).format).toBe("jpeg");
  });

  test("that is damaged is rejected", async () => {
    const whole = await noise(300, 300).jpeg().toBuffer();
    const { id } = await upload("cut.jpg", "image/jpeg", whole.subarray(0, 400));
    const failure = await expectRejection(view({ upload_id: id }), "media_not_viewable");
    expect(failure.message).toContain("damaged");
  });

  test("with too many pixels is rejected before it is decoded", async () => {
    const bytes = await picture(8_000, 7_000).png().toBuffer();
    const { id } = await upload("huge.png", "image/png", bytes);
    const failure = await expectRejection(view({ upload_id: id }), "media_not_viewable");
    expect(failure.message).toContain("more than 50000000 pixels");
  });
});

describe("without the package that scales", () => {
  let plain: TestApp;
  beforeAll(async () => {
    plain = await startTestApp({ images: openImageScaler({ findPackage: () => undefined }) });
  });
  afterAll(() => plain[Symbol.asyncDispose]());

  test("an image of up to 1 MB is shown as it is", async () => {
    const bytes = await picture(3_000, 1_500).png().toBuffer();
    const { id } = await upload("photo.png", "image/png", bytes, plain);
    const { data } = await plain.call(messages.view_media, { upload_id: id });
    const base64 = bytes.toString("base64");
    expect(data.image).toEqual({ content_type: "image/png", width: null, height: null, base64 });
  });

  test("a larger image is rejected, with what to install", async () => {
    const bytes = await noise(1_000, 1_000).png({ compressionLevel: 0 }).toBuffer();
    const { id } = await upload("photo.png", "image/png", bytes, plain);
    const failure = await expectRejection(
      plain.call(messages.view_media, { upload_id: id }),
      "media_not_viewable",
    );
    expect(failure.message).toContain("the package sharp is not installed");
    expect(failure.fix).toContain("install sharp");
  });

  test("a recording is not transcribed, and the error says what is missing", async () => {
    const { id } = await upload("note.ogg", "audio/ogg", ogg, plain);
    const failure = await expectRejection(
      plain.call(messages.view_media, { upload_id: id }),
      "transcription_not_configured",
    );
    expect(failure.fix).toContain("TIDINGS_TRANSCRIPTION_URL");
  });

  test("a file that is no package counts as absent", async () => {
    const scaler = openImageScaler({ findPackage: () => "/nowhere/sharp.cjs" });
    const scaled = await scaler.scale(Uint8Array.from(ogg), { signal: never });
    expect(scaled).toEqual({ outcome: "failed", reason: "absent" });
  });
});

describe("a PDF", () => {
  test("is shown as the text of its pages", async () => {
    const pdf = createPdf([["Menu", "Soup 5 EUR"], ["Closed on Mondays"]]);
    const { id } = await upload("menu.pdf", "application/pdf", pdf);
    const { kind, text, pages, next_page } = await view({ upload_id: id });
    expect({ kind, pages, next_page }).toEqual({ kind: "document", pages: 2, next_page: null });
    expect(text).toBe("[Page 1]\nMenu Soup 5 EUR\n\n[Page 2]\nClosed on Mondays");
    expect((await view({ upload_id: id, page: 2 })).text).toBe("[Page 2]\nClosed on Mondays");
  });

  test("that is long is shown in parts, each with the page to continue with", async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `Line ${at} ${"word ".repeat(20)}`);
    const { id } = await upload("long.pdf", "application/pdf", createPdf(Array(9).fill(lines)));
    const read: (number | null)[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const { text, next_page } = await view({ upload_id: id, page });
      expect(text?.length).toBeLessThanOrEqual(20_000);
      read.push(next_page);
      page = next_page;
    }
    expect(read).toEqual([5, 9, null]);
  });

  test.each([
    ["without the asked page", createPdf([["One"]]), 2, "it has no page 2", "from 1 to 1"],
    ["with a password", createPdf([["One"]], encryption), 1, "password", "open it"],
    ["of scanned pages", createPdf([[]]), 1, "its pages have no text", "open it"],
  ])("%s is rejected", async (_, pdf, page, message, fix) => {
    const { id } = await upload("a.pdf", "application/pdf", pdf);
    const failure = await expectRejection(view({ upload_id: id, page }), "media_not_viewable");
    expect(failure.message).toContain(message);
    expect(failure.fix).toContain(fix);
  });
});

describe("a recording", () => {
  test("is sent to the transcription service, and shown as its transcript", async () => {
    service.answerNext({ body: { text: " Where is my parcel?\n", language: "english" } });
    const { id } = await upload("note.ogg", "audio/ogg", ogg);
    expect(await view({ upload_id: id })).toMatchObject({
      kind: "recording",
      content_type: "audio/ogg",
      text: "Where is my parcel?",
      language: "english",
      image: null,
    });
    const [request] = service.requests;
    expect(request).toMatchObject({
      path: "/v1/audio/transcriptions",
      headers: { authorization: "Bearer sk-speech" },
    });
    expect(request?.form).toContain('name="model"\r\n\r\nwhisper-1\r\n');
    expect(request?.form).toContain('name="file"; filename="recording.ogg"\r\ncontent-type: audio/ogg');
    expect(request?.form).toContain("OpusHead");
  });

  test.each([
    [
      "rejects the key",
      errorAnswer(401, { code: "invalid_api_key" }),
      "TIDINGS_TRANSCRIPTION_KEY",
      "operator",
    ],
    ["answers with another form", { body: { result: "Hello" } }, "has an unknown form", "Try again"],
  ])("is not shown if the service %s", async (_, answer, message, fix) => {
    service.answerNext(answer);
    const { id } = await upload("note.ogg", "audio/ogg", ogg);
    const failure = await expectRejection(view({ upload_id: id }), "transcription_failed");
    expect(failure.message).toContain(message);
    expect(failure.fix).toContain(fix);
  });
});

describe("the file of a message", () => {
  const phone = () => openPhone(app, "+14155550711");

  test("is shown, also the file that we sent", async () => {
    const { storage_url: media_url } = await upload(
      "a.png",
      "image/png",
      await picture(9, 9).png().toBuffer(),
    );
    const media = { type: "image", url: media_url };
    const { message_id } = await phone().write("", { text: undefined, media });
    expect((await view({ message_id })).image).toMatchObject({ width: 9, height: 9 });
    const sent = { to: "+14155550711", type: "image", media_url } as const;
    const { data } = await app.call(messages.send_message, sent);
    expect((await view({ message_id: data.id })).image).toMatchObject({ width: 9, height: 9 });
  });

  test("that was deleted is not shown", async () => {
    const { id, storage_url } = await upload("a.png", "image/png", await picture(9, 9).png().toBuffer());
    const sent = { to: "+14155550711", type: "image", media_url: storage_url } as const;
    const { data } = await app.call(messages.send_message, sent);
    await app.fetch(`/v1/uploads/${id}`, { method: "DELETE" });
    const failure = await expectRejection(view({ message_id: data.id }), "message_without_file");
    expect(failure.message).toContain("it was deleted");
  });

  test("at an address that can't be read is not shown", async () => {
    const media = { type: "image", url: "http://127.0.0.1:9/a.png" };
    const { message_id } = await phone().write("", { text: undefined, media });
    const failure = await expectRejection(view({ message_id }), "media_not_viewable");
    expect(failure.message).toContain("its address can't be read");
  });

  test("of type text does not exist", async () => {
    const { message_id } = await phone().write("Hello");
    await expectRejection(view({ message_id }), "message_without_file");
  });
});

test("a video is not shown", async () => {
  const mp4 = Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isommp42\0\0\0\x08mdat", "latin1");
  const { id } = await upload("a.mp4", "video/mp4", mp4);
  const failure = await expectRejection(view({ upload_id: id }), "media_not_viewable");
  expect(failure.message).toContain("it is video/mp4");
});

test.each([{}, { message_id: "msg_1", upload_id: "upl_1" }])(
  "a call names one message or one upload: %j",
  async (input) => {
    await expectRejection(view(input), "invalid_request");
  },
);

test("what belongs to another tenant is not found", async () => {
  const other = await createOtherTenant(app);
  await expectRejection(view({ message_id: other.message_id }), "message_not_found");
  await expectRejection(view({ upload_id: other.upload_id }), "upload_not_found");
});

test("a message needs the scope of messages, and another credential's upload that of uploads", async () => {
  const { id, storage_url } = await upload("a.png", "image/png", await picture(9, 9).png().toBuffer());
  const media = { type: "image", url: storage_url };
  const { message_id } = await openPhone(app, "+14155550712").write("", { text: undefined, media });
  const keyWith = async (...scopes: Scope[]) =>
    (await app.call(apiKeys.create_api_key, { name: "k", scopes })).data.secret_key;
  const reader = await keyWith("inbox:read");
  expect((await view({ message_id }, reader)).kind).toBe("image");
  expect(await expectRejection(view({ upload_id: id }, reader), "insufficient_scope")).toMatchObject({
    required_scopes: ["inbox:write"],
  });
  const writer = await keyWith("inbox:write");
  expect((await view({ upload_id: id }, writer)).kind).toBe("image");
  await expectRejection(view({ message_id }, writer), "insufficient_scope");
});

test("an assistant gets the image as an image, marked as untrusted, and its bytes in no text", async () => {
  const { id } = await upload("a.png", "image/png", await picture(2_000, 1_000).png().toBuffer());
  await using assistant = await connectAssistant(app, `sk_live_${"o".repeat(43)}`);
  for (const [name, args] of [
    ["view_media", { upload_id: id }],
    ["run_read_tool", { name: "view_media", arguments: { upload_id: id } }],
  ] as const) {
    const { content, structuredContent } = await assistant.client.callTool({ name, arguments: args });
    const blocks = content as { type: string; text?: string; data?: string; mimeType?: string }[];
    expect(blocks.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    expect(structuredContent).toMatchObject({
      data: { image: { content_type: "image/jpeg", width: 1_568 } },
    });
    expect(structuredContent).not.toHaveProperty("data.image.base64");
    expect(blocks[0]?.text).toBe(JSON.stringify(structuredContent));
    expect(blocks[1]?.mimeType).toBe("image/jpeg");
    expect(await sizeOf(blocks[1]?.data)).toMatchObject({ width: 1_568, height: 784 });
    expect(blocks[2]?.text).toMatch(/^Untrusted: .*data\.image/);
  }
});
