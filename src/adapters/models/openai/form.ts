/** The body of a request that uploads a file: `multipart/form-data`. */
import { randomUUID } from "node:crypto";

export interface UploadedFile {
  /** Without quotes and line breaks: it is written by this service. */
  readonly name: string;
  readonly content_type: string;
  readonly bytes: Uint8Array;
}

/** A form with the fields and the file. */
export function writeForm(fields: Readonly<Record<string, unknown>>, file: UploadedFile) {
  const boundary = randomUUID();
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
  );
  const disposition = `content-disposition: form-data; name="file"; filename="${file.name}"`;
  const head = `${parts.join("")}--${boundary}\r\n${disposition}\r\ncontent-type: ${file.content_type}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
