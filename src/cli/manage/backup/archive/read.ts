/** Reads the archive of a backup from a file, entry by entry. */
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { createTarDecoder } from "modern-tar";
import type { z } from "zod";
import { collectBytes } from "../../../../streams/bytes.ts";
import { CommandError } from "../../../commands/command-error.ts";
import type { CommandOptions } from "../../../commands/options.ts";
import { formatVersion, type Manifest, ManifestSchema, manifestName } from "../manifest.ts";
import { decrypt, toByteStream } from "./encryption.ts";

export interface ReadEntry {
  readonly name: string;
  readonly size: number;
  /** Must be read to its end before the next entry. */
  readonly body: AsyncIterable<Uint8Array>;
}

interface ReadableBackup {
  /** Its name in errors. */
  readonly name: string;
  read(): Promise<AsyncIterable<Uint8Array>>;
}

/** More than any entry has: rows are written in parts of 4 MiB, each with whole rows. */
const maxEntryBytes = 256 * 1024 * 1024;

/**
 * The manifest, and the entries after it.
 * @throws CommandError if the file is not a backup, is damaged or ends too early. UsageError for its key.
 */
export async function openArchive(
  { name: path, read }: ReadableBackup,
  options: CommandOptions,
): Promise<{ readonly manifest: Manifest; readonly entries: AsyncIterable<ReadEntry> }> {
  const entries = explainErrors(path, readEntries(await read(), options));
  const first = await entries.next();
  if (first.done || first.value.name !== manifestName) {
    throw new CommandError(`${path} is not a backup of Tidings.`);
  }
  const text = toText(await readWhole(first.value, path));
  const { format_version = 1 } = parseJson<{ format_version?: number }>(text, path);
  if (format_version > formatVersion) {
    throw new CommandError("A newer version of Tidings made this backup: use the newer version.");
  }
  return { manifest: parseAs(ManifestSchema, text, path), entries };
}

/** The content of an entry of JSON. @throws CommandError if it does not have the form. */
export function parseAs<Value>(schema: z.ZodType<Value>, text: string, path: string): Value {
  const parsed = schema.safeParse(parseJson(text, path));
  if (!parsed.success) {
    throw damageError(path, "its description does not have the right form");
  }
  return parsed.data;
}

/** What a reader of the backup at `path` throws for content that no backup has. */
export function damageError(path: string, reason: string, cause?: unknown): CommandError {
  return new CommandError(`${path} is damaged: ${reason}. Use another copy or an older backup.`, { cause });
}

export async function readWhole({ name, size, body }: ReadEntry, path: string): Promise<Buffer> {
  if (size > maxEntryBytes) {
    throw damageError(path, `its entry ${name} is too large`);
  }
  return (await collectBytes(body, maxEntryBytes)).bytes;
}

export function toText(bytes: Buffer): string {
  return bytes.toString("utf8");
}

function parseJson<Value>(text: string, path: string): Value {
  try {
    return JSON.parse(text) as Value; // the callers check the form
  } catch (cause) {
    throw damageError(path, "its description is not JSON", cause);
  }
}

async function* readEntries(
  bytes: AsyncIterable<Uint8Array>,
  options: CommandOptions,
): AsyncGenerator<ReadEntry> {
  const decrypted = await decrypt(toByteStream(bytes), options);
  const entries = toByteStream(unzip(decrypted)).pipeThrough(createTarDecoder({ strict: true }));
  for await (const { header, body } of entries) {
    yield { name: header.name, size: header.size, body };
  }
}

function unzip(zipped: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  // An error reaches the reader of the stream, which the pipeline destroys with the error.
  pipeline(zipped, gunzip).catch(() => undefined);
  return gunzip;
}

async function* explainErrors(
  path: string,
  entries: AsyncIterable<ReadEntry>,
): AsyncGenerator<ReadEntry, undefined> {
  try {
    for await (const { name, size, body } of entries) {
      yield { name, size, body: explain(path, body) };
    }
  } catch (error) {
    throw toDamage(path, error);
  }
  return undefined;
}

async function* explain(path: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw toDamage(path, error);
  }
}

/** The errors of gzip, tar and age say where they are, and not what that means. */
function toDamage(path: string, error: unknown): Error {
  if (error instanceof CommandError) {
    return error;
  }
  const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  return new CommandError(
    `${path} is not a backup of Tidings, or it is damaged or was cut off: ${reason}. Use another copy or an older backup.`,
    { cause: error },
  );
}
