/** Writes the archive of a backup to a file, entry by entry. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { createTarPacker } from "modern-tar";
import { CommandError } from "../../../commands/command-error.ts";
import { type ByteStream, toByteStream } from "./encryption.ts";

export interface ArchiveEntry {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface ArchiveWriter {
  add(entry: ArchiveEntry): Promise<void>;
  addText(name: string, text: string): Promise<void>;
}

/** What the name of a backup that is not complete ends with. */
export const draftSuffix = ".part";

interface ArchiveTarget {
  /** The file, which must not exist. */
  readonly path: string;
  /** Undefined: the archive is not encrypted. */
  readonly encrypt: ((plain: ByteStream) => Promise<ByteStream>) | undefined;
}

/**
 * Calls `fill` with a writer, and moves the file into place when it is complete and on the disk. After an
 * error there is no file.
 */
export async function writeArchive<Result>(
  { path, encrypt }: ArchiveTarget,
  fill: (archive: ArchiveWriter) => Promise<Result>,
): Promise<Result> {
  // Another backup to the same path may be written at the same time.
  const draft = `${path}.${randomUUID()}${draftSuffix}`;
  const { readable, controller } = createTarPacker();
  try {
    const saving = save(readable, draft, encrypt);
    const filling = fillArchive(controller, fill);
    // An error of one ends the other, so each error is reported by whichever had it first.
    saving.catch((error: unknown) => controller.error(error));
    filling.catch((error: unknown) => controller.error(error));
    const [result] = await Promise.all([filling, saving]);
    await moveIntoPlace(draft, path);
    return result;
  } finally {
    await rm(draft, { force: true });
  }
}

type Packer = ReturnType<typeof createTarPacker>["controller"];

async function fillArchive<Result>(
  packer: Packer,
  fill: (archive: ArchiveWriter) => Promise<Result>,
): Promise<Result> {
  const add = async ({ name, size, body }: ArchiveEntry) => {
    const writer = packer.add({ name, size, mode: 0o600 }).getWriter();
    for await (const { buffer, byteOffset, byteLength } of body) {
      // A plain array, because modern-tar rejects a Buffer.
      await writer.write(new Uint8Array(buffer, byteOffset, byteLength));
    }
    await writer.close();
  };
  const addText = (name: string, text: string) => {
    const bytes = Buffer.from(text);
    return add({ name, size: bytes.length, body: [bytes] });
  };
  const result = await fill({ add, addText });
  packer.finalize();
  return result;
}

async function save(archive: ByteStream, path: string, encrypt: ArchiveTarget["encrypt"]): Promise<void> {
  const file = await open(path, "w", 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`The backup can't be written to ${path} (${cause.code}).`, { cause });
  });
  await pipeline(
    archive,
    createGzip({ level: 1 }), // most of the size is saved at the least of the time
    async function* (zipped: AsyncIterable<Uint8Array>) {
      yield* encrypt ? await encrypt(toByteStream(zipped)) : zipped;
    },
    createWriteStream(path, { fd: file.fd, autoClose: false }),
  ).then(
    () => file.sync(),
    async (error: unknown) => {
      await file.close();
      throw error;
    },
  );
  await file.close();
}

/** Without replacing a file that was created meanwhile. */
async function moveIntoPlace(draft: string, path: string): Promise<void> {
  await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`The backup can't be moved to ${path} (${cause.code}).`, { cause });
  });
}
