/**
 * Writes multipart/form-data: the plain fields, then one file.
 *
 * The file comes as `content_base64` with `file_name` and perhaps `content_type`, and goes as the part
 * `file`. It is the last part, so that a service that reads the body as a stream knows the rest by then.
 */
import { randomUUID } from "node:crypto";

export function writeMultipart({
  content_base64,
  file_name,
  content_type = "application/octet-stream",
  ...fields
}: Readonly<Record<string, unknown>>): { readonly type: string; readonly body: Buffer } {
  const boundary = `tidings-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `--${boundary}\r\n${disposition({ name })}\r\n\r\n${value}\r\n`);
  const file = disposition({ name: "file", filename: String(file_name ?? "file") });
  const head = `--${boundary}\r\n${file}\r\nContent-Type: ${lineOf(content_type)}\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(parts.join("") + head),
      Buffer.from(String(content_base64 ?? ""), "base64"),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

function disposition(names: Readonly<Record<string, string>>): string {
  const written = Object.entries(names).map(([key, value]) => `; ${key}="${quotable(value)}"`);
  return `Content-Disposition: form-data${written.join("")}`;
}

/** As browsers do: what would end the name, or the line, is written in percent. */
function quotable(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function lineOf(value: unknown): string {
  return String(value).replace(/[\r\n]/g, "");
}
