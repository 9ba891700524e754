/**
 * Writes multipart/form-data: the plain fields, then one file, which is streamed.
 *
 * The file is the last part, with the name `file`, so that a service that streams the body has all fields
 * before it.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { OutgoingFile } from "../ports/transport/operation-request.ts";

export interface MultipartBody {
  readonly type: string;
  readonly length: number;
  readonly body: () => Readable;
}

export function writeMultipart(fields: Readonly<Record<string, unknown>>, file: OutgoingFile): MultipartBody {
  const boundary = `tidings-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `--${boundary}\r\n${disposition({ name })}\r\n\r\n${value}\r\n`);
  const named = disposition({ name: "file", filename: file.name });
  const opening = `--${boundary}\r\n${named}\r\nContent-Type: ${withoutLineBreaks(file.type)}\r\n\r\n`;
  const head = Buffer.from(parts.join("") + opening);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const body = async function* () {
    yield head;
    yield* file.open();
    yield tail;
  };
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + file.size + tail.length,
    body: () => Readable.from(body(), { objectMode: false }),
  };
}

function disposition(names: Readonly<Record<string, string>>): string {
  const written = Object.entries(names).map(([key, value]) => `; ${key}="${escapeQuotes(value)}"`);
  return `Content-Disposition: form-data${written.join("")}`;
}

/** Percent-encodes the characters that would end the name or the line, as browsers do. */
function escapeQuotes(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function withoutLineBreaks(value: string): string {
  return value.replace(/[\r\n]/g, "");
}
