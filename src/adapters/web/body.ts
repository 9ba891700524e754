/** Reads the body of a response, up to a limit. */
import { BodyTooLargeError, MalformedResponseError } from "./failures.ts";

export interface CollectedBody {
  readonly body: Uint8Array;
  readonly isCut: boolean;
}

/** The whole body, or its first `maxBytes`; does not wait for the rest. */
export async function collectBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<CollectedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) {
      return { body: Buffer.concat(chunks), isCut: true };
    }
  }
  return { body: Buffer.concat(chunks), isCut: false };
}

/** Streams the body. @throws BodyTooLargeError before it yields more than `maxBytes`. */
export async function* limitBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new BodyTooLargeError();
    }
    yield chunk;
  }
}

/** Rejects a body unread if its declared length is too large, or if it is compressed against the request. */
export function checkBodyHeaders(headers: Readonly<Record<string, string>>, maxBytes: number): void {
  if (Number(headers["content-length"] ?? 0) > maxBytes) {
    throw new BodyTooLargeError();
  }
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new MalformedResponseError("compressed");
  }
}
