/** Encrypts and decrypts backups in the format of age, to a recipient or with a passphrase. */
import { readFile } from "node:fs/promises";
import { Decrypter, Encrypter } from "age-encryption";
import { UsageError } from "../../../commands/command-error.ts";
import type { CommandOptions } from "../../../commands/options.ts";

export type ByteStream = ReadableStream<Uint8Array>;

/** What every file in the format of age begins with. */
const ageStart = "age-encryption.org/";

/**
 * The function that encrypts a backup; undefined with `--plain`.
 * @throws UsageError unless exactly one of the options is given.
 */
export async function readEncryption(
  options: CommandOptions,
): Promise<((plain: ByteStream) => Promise<ByteStream>) | undefined> {
  const { recipient, plain = false, "passphrase-file": file } = options;
  const given = [recipient !== undefined, file !== undefined, plain].filter(Boolean).length;
  if (given !== 1) {
    throw new UsageError(
      "Give one of --recipient and --passphrase-file, or --plain: a backup has what customers wrote, and secrets of the service.",
    );
  }
  if (plain) {
    return undefined;
  }
  const encrypter = new Encrypter();
  if (file !== undefined) {
    encrypter.setPassphrase(await readSecretFile(file, "--passphrase-file"));
  } else {
    try {
      encrypter.addRecipient(recipient ?? "");
    } catch (cause) {
      throw new UsageError("--recipient takes a public key of age, which begins with age1.", { cause });
    }
  }
  return (stream) => encrypter.encrypt(stream);
}

/**
 * The bytes of a backup, decrypted if it is encrypted.
 * @throws UsageError if it is encrypted and no option can open it, or if an option is of no use.
 */
export async function decrypt(stream: ByteStream, options: CommandOptions): Promise<ByteStream> {
  const { identity, "passphrase-file": file } = options;
  const { start, stream: whole } = await peek(stream, ageStart.length);
  if (start !== ageStart) {
    return whole;
  }
  const decrypter = new Decrypter();
  if (file !== undefined) {
    decrypter.addPassphrase(await readSecretFile(file, "--passphrase-file"));
  }
  if (identity !== undefined) {
    for (const line of await readIdentities(identity)) {
      decrypter.addIdentity(line);
    }
  }
  if (identity === undefined && file === undefined) {
    throw new UsageError("The backup is encrypted: give --identity or --passphrase-file.");
  }
  try {
    return await decrypter.decrypt(whole);
  } catch (cause) {
    throw new Error(
      "The backup can't be decrypted: the identity or the passphrase is another one, or its beginning is damaged.",
      { cause },
    );
  }
}

/** Lines of a file that age-keygen wrote. */
async function readIdentities(path: string): Promise<readonly string[]> {
  const lines = (await readSecretFile(path, "--identity")).split("\n").map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (identities.length === 0 || identities.some((line) => !line.startsWith("AGE-SECRET-KEY-"))) {
    throw new UsageError(`${path} has no identity of age, which begins with AGE-SECRET-KEY-.`);
  }
  return identities;
}

/** The content without white space at its ends. @throws UsageError if it can't be read, or is empty. */
async function readSecretFile(path: string, option: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`The file of ${option}, ${path}, can't be read (${cause.code}).`, { cause });
  });
  if (text.trim() === "") {
    throw new UsageError(`The file of ${option}, ${path}, is empty.`);
  }
  return text.trim();
}

/** The first bytes as text, and a stream with all bytes. */
async function peek(
  stream: ByteStream,
  length: number,
): Promise<{ readonly start: string; readonly stream: ByteStream }> {
  const chunks = stream[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  const size = () => first.reduce((sum, chunk) => sum + chunk.length, 0);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    first.push(next.value);
    if (size() >= length) {
      break;
    }
  }
  async function* all() {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { start: Buffer.concat(first).toString("latin1", 0, length), stream: toByteStream(all()) };
}

/** A web stream, as age and modern-tar need it. */
export function toByteStream(bytes: AsyncIterable<Uint8Array>): ByteStream {
  const chunks = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done = false, value } = await chunks.next();
      if (done) {
        controller.close();
      } else {
        controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
