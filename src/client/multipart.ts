/**
 * Writes multipart/form-data: the plain fields, then one file, which is streamed.
 *
 * The file is passed with the call, or as `content_base64` with `file_name` and an optional `content_type`.
 * It is sent as the part `file`, which is the last one, so that a service that streams the body has all
 * fields before it.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";

/** A file that is sent with the fields of a call. */
export interface FileToSend {
  readonly name: string;
  /** In bytes; sent in advance as the content length. */
  readonly size: number;
  /** Opens the content; called once for each attempt. */
  open(): AsyncIterable<Uint8Array>;
}

export interface MultipartBody {
  readonly type: string;
  readonly length: number;
  readonly body: () => Readable;
}

/** Undefined without a file: then the fields can be sent as JSON. */
export function writeMultipart(
  { content_base64, ...input }: Readonly<Record<string, unknown>>,
  fileToSend?: FileToSend,
): MultipartBody | undefined {
  const file = fileToSend ?? fromBase64(content_base64, input.file_name);
  if (!file) {
    return undefined;
  }
  const { file_name = file.name, content_type = "application/octet-stream", ...fields } = input;
  const boundary = `tidings-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `--${boundary}\r\n${disposition({ name })}\r\n\r\n${value}\r\n`);
  const named = disposition({ name: "file", filename: String(file_name) });
  const opening = `--${boundary}\r\n${named}\r\nContent-Type: ${withoutLineBreaks(content_type)}\r\n\r\n`;
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

function fromBase64(content: unknown, name: unknown): FileToSend | undefined {
  if (content === undefined || content === null) {
    return undefined;
  }
  const bytes = Buffer.from(String(content), "base64");
  const open = async function* () {
    yield bytes;
  };
  return { name: String(name ?? "file"), size: bytes.length, open };
}

function disposition(names: Readonly<Record<string, string>>): string {
  const written = Object.entries(names).map(([key, value]) => `; ${key}="${escapeQuotes(value)}"`);
  return `Content-Disposition: form-data${written.join("")}`;
}

/** Percent-encodes what would end the name or the line, like browsers do. */
function escapeQuotes(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function withoutLineBreaks(value: unknown): string {
  return String(value).replace(/[\r\n]/g, "");
}
