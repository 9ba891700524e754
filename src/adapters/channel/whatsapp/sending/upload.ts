/**
 * Uploads files of our own store to WhatsApp, which returns an id for each.
 *
 * An id is valid for 30 days and is kept in memory for one, so that a broadcast uploads its file
 * once in a process. An upload goes on when the send that waits for it runs out of time: the next
 * attempt then finds it.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ChannelFile } from "../../../../ports/channel/message-content.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { WhatsAppAccount } from "../account.ts";
import { askGraph, type GraphError, parseAnswer, segment, type WhatsAppSettings } from "../http.ts";

export type UploadResult =
  | { readonly outcome: "uploaded"; readonly id: string }
  | { readonly outcome: "rejected"; readonly error: GraphError }
  /** The file has been deleted. */
  | { readonly outcome: "missing" };

export type Uploader = (account: WhatsAppAccount, file: ChannelFile) => Promise<UploadResult>;

const keptMs = 24 * 3_600_000;
const maxKept = 1_000;
const uploadTimeoutMs = 120_000;

const UploadAnswer = z.object({ id: z.string().min(1).max(255) });

export function createUploader(settings: WhatsAppSettings, now: Clock): Uploader {
  const uploads = new Map<string, { readonly since: number; readonly result: Promise<UploadResult> }>();
  return (account, file) => {
    const key = `${account.phone_number_id} ${file.key}`;
    const known = uploads.get(key);
    if (known && now().getTime() - known.since < keptMs) {
      return known.result;
    }
    const result = upload(settings, account, file);
    uploads.delete(key);
    uploads.set(key, { since: now().getTime(), result });
    const [oldest] = uploads.keys();
    if (uploads.size > maxKept && oldest !== undefined) {
      uploads.delete(oldest);
    }
    const forget = () => uploads.get(key)?.result === result && uploads.delete(key);
    result.then(({ outcome }) => outcome !== "uploaded" && forget(), forget);
    return result;
  };
}

async function upload(
  settings: WhatsAppSettings,
  credentials: WhatsAppAccount,
  file: ChannelFile,
): Promise<UploadResult> {
  const content = await file.read();
  if (!content) {
    return { outcome: "missing" };
  }
  const boundary = randomUUID();
  const { head, tail } = formAround(boundary, file);
  const size = Buffer.byteLength(head) + file.size + Buffer.byteLength(tail);
  const answer = await askGraph(
    { settings, credentials },
    {
      method: "POST",
      path: `/${segment(credentials.phone_number_id)}/media`,
      timeoutMs: uploadTimeoutMs,
      headers: {
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(size),
      },
      body: joined(head, content, tail),
    },
  );
  return answer.outcome === "rejected"
    ? answer
    : { outcome: "uploaded", id: parseAnswer(UploadAnswer, answer.value).id };
}

function formAround(boundary: string, { key, content_type }: ChannelFile) {
  const field = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const name = key.split("/").at(-1) ?? "file";
  const disposition = `content-disposition: form-data; name="file"; filename="${name}"`;
  const head = [
    field("messaging_product", "whatsapp"),
    field("type", content_type),
    `--${boundary}\r\n${disposition}\r\ncontent-type: ${content_type}\r\n\r\n`,
  ].join("");
  return { head, tail: `\r\n--${boundary}--\r\n` };
}

async function* joined(head: string, content: AsyncIterable<Uint8Array>, tail: string) {
  yield Buffer.from(head);
  yield* content;
  yield Buffer.from(tail);
}
