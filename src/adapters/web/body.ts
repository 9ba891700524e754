/** Reads an answer's body, and no more of it than was asked for. */
import { BodyTooLargeError, MalformedResponseError } from "./failures.ts";

export interface CollectedBody {
  readonly body: Uint8Array;
  readonly isCut: boolean;
}

/** The whole body, or its first `maxBytes`; the rest is not waited for. */
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

/** The body as it comes. @throws TooLarge instead of handing out a byte too many */
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

/** A body that claims its length, or comes packed although that was not asked for, is refused unread. */
export function checkBodyHeaders(headers: Readonly<Record<string, string>>, maxBytes: number): void {
  if (Number(headers["content-length"] ?? 0) > maxBytes) {
    throw new BodyTooLargeError();
  }
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new MalformedResponseError("compressed");
  }
}
