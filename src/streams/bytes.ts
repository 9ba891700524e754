/** Reads streams of bytes, up to a limit. */

export interface CollectedBytes {
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** Returns the whole body, or its first `maxBytes` without waiting for more. */
export async function collectBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<CollectedBytes> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) {
      return { bytes: Buffer.concat(chunks, maxBytes), isCut: true };
    }
  }
  return { bytes: Buffer.concat(chunks, size), isCut: false };
}

/** Returns the whole body. @throws the error of `tooLong` if the body has more than `maxBytes`. */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitBytes(body, maxBytes, tooLong)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Streams the body. @throws the error of `tooLong` before it yields more than `maxBytes`. */
export async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) {
      throw tooLong();
    }
    yield chunk;
  }
}
