/**
 * What a customer shows and says on WhatsApp reaches an assistant: a photo as an image, a voice note as text.
 */
import sharp from "sharp";
import { expect, test } from "vitest";
import { ownerKey } from "../support/app.ts";
import { connectAssistant } from "../support/assistant.ts";
import { startModelService } from "../support/model-service.ts";
import { startEmulatedWhatsApp } from "../support/whatsapp-channel.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
}

test("an assistant sees the photo and reads what is said in the voice note", async () => {
  await using speech = await startModelService();
  const { app, emulator, control, advance } = await startEmulatedWhatsApp({
    TIDINGS_TRANSCRIPTION_URL: speech.url,
  });
  await using _app = app;
  await using _emulator = emulator;
  await using assistant = await connectAssistant(app, ownerKey);

  const red = { r: 200, g: 30, b: 20 };
  const photo = await sharp({ create: { width: 2_000, height: 1_000, channels: 3, background: red } })
    .jpeg()
    .toBuffer();
  const media = { type: "image", base64: photo.toString("base64"), caption: "Which one is it?" };
  await control("POST", "/inbound", { from: "14155550123", name: "Ada", media });
  await advance(1_000);
  await control("POST", "/inbound", { from: "14155550123", media: { type: "audio", voice: true } });
  await advance(1_000);

  const { data } = await assistant.call("list_conversations", { filter: "unanswered" });
  const { data: messages } = await assistant.call("list_messages", { conversation_id: data[0]?.id });
  const [voiceNote, picture] = messages;
  expect([picture?.type, voiceNote?.type]).toEqual(["image", "audio"]);

  const seen = await assistant.client.callTool({
    name: "view_media",
    arguments: { message_id: picture?.id },
  });
  const image = (seen.content as Block[]).find(({ type }) => type === "image");
  const { channels } = await sharp(Buffer.from(image?.data ?? "", "base64")).stats();
  expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([20, 3, 2]);

  speech.answerNext({ body: { text: "I ordered the red one, and it is broken." } });
  const said = await assistant.call("view_media", { message_id: voiceNote?.id });
  expect(said.data).toMatchObject({ kind: "recording", text: "I ordered the red one, and it is broken." });
  expect(speech.requests[0]?.form).toContain("OpusHead");
});
