/**
 * A backup in a bucket. It is written to the data folder first and then uploaded in parts. An upload that
 * failed is continued by the same command: the backup is not made again.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createLargeObject, type LargeObject, type UploadState } from "../../../../adapters/storage/index.ts";
import type { Config } from "../../../../config/index.ts";
import { errorCode, replaceFile } from "../../../../database/ownership/index.ts";
import { CommandError, messageOf, UsageError } from "../../../commands/command-error.ts";
import { draftSuffix } from "../archive/index.ts";
import type { BackupPlace, MadeBackup } from "./backup-place.ts";
import { removeLeftovers } from "./leftovers.ts";

const Report = z.looseObject({
  tables: z.number(),
  rows: z.number(),
  files: z.number(),
  bytes: z.number(),
  missing_files: z.array(z.string()),
  damaged_files: z.array(z.string()),
  sealed_values: z.number().nullable(),
});

/** A backup in the data folder of which the bucket does not have all parts. */
const WaitingBackup = z.object({
  made: z.object({ report: Report, problems: z.array(z.string()) }),
  made_at: z.iso.datetime(),
  upload: z.object({ upload_id: z.string(), part_bytes: z.int(), etags: z.array(z.string()) }).optional(),
});

interface Waiting {
  readonly made: MadeBackup;
  readonly made_at: string;
  /** Undefined until it began. */
  readonly upload?: UploadState | undefined;
}

const addressPattern =
  /^s3:\/\/(?<bucket>[a-z\d][a-z\d.-]{1,61}[a-z\d])\/(?<key>[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)$/;

/** @throws UsageError */
export function createBucketPlace({ bucketAccess, dataDir }: Config, address: string): BackupPlace {
  const { bucket, key } = addressPattern.exec(address)?.groups ?? {};
  if (bucket === undefined || key === undefined) {
    throw new UsageError(
      `${address} is no address of a backup. Write s3://bucket/key, with letters, digits and ._-/ in the key.`,
    );
  }
  if (bucketAccess === undefined) {
    throw new UsageError(
      "Set TIDINGS_S3_ACCESS_KEY_ID and TIDINGS_S3_SECRET_ACCESS_KEY, and TIDINGS_S3_ENDPOINT unless it is Amazon's, to use a bucket.",
    );
  }
  const object = createLargeObject(bucketAccess, { bucket, key });
  const folder = join(dataDir, "backups");
  const path = join(folder, createHash("sha256").update(address).digest("hex").slice(0, 16));
  const statePath = `${path}.json`;

  const failure = (cause: unknown) => {
    const reason = messageOf(cause);
    return new CommandError(
      `The backup is in ${path}, but not yet in the bucket: ${reason}. Run the same command again: it uploads the parts that are missing.`,
      { cause },
    );
  };

  return {
    name: address,

    async write(make) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await removeLeftovers(folder, (name) => name.endsWith(draftSuffix));
      const earlier = await readWaiting(statePath);
      if (earlier === undefined) {
        // A process that was killed may have left a backup that it did not describe.
        await rm(path, { force: true });
      }
      await requireFree(object, { address, path, hasBackup: earlier !== undefined });
      const waiting: Waiting = earlier ?? { made: await make(path), made_at: new Date().toISOString() };
      const save = (upload: UploadState | undefined) =>
        replaceFile(statePath, JSON.stringify({ ...waiting, upload }));
      await save(waiting.upload);
      const { sent, kept } = await object.upload(path, waiting.upload, save).catch((error: unknown) => {
        throw failure(error);
      });
      await rm(statePath);
      await rm(path);
      const { report, problems } = waiting.made;
      return {
        report: { ...report, made_at: waiting.made_at, parts_sent: sent, parts_kept: kept },
        problems,
      };
    },

    async read() {
      const size = await object.readSize();
      if (size === undefined) {
        throw new UsageError(`There is no backup at ${address}.`);
      }
      return object.read();
    },
  };
}

async function readWaiting(statePath: string): Promise<Waiting | undefined> {
  try {
    return WaitingBackup.parse(JSON.parse(await readFile(statePath, "utf8")));
  } catch (error) {
    if (errorCode(error) === "ENOENT") {
      return undefined;
    }
    throw new CommandError(`${statePath} does not describe a backup: remove it, and run the command again.`, {
      cause: error,
    });
  }
}

interface Occupancy {
  readonly address: string;
  readonly path: string;
  readonly hasBackup: boolean;
}

/** @throws UsageError if the object exists, unless it is the backup that a killed process has uploaded. */
async function requireFree(object: LargeObject, { address, path, hasBackup }: Occupancy): Promise<void> {
  const size = await object.readSize().catch((cause: unknown) => {
    const reason = messageOf(cause);
    throw new CommandError(`The bucket can't be used: ${reason}.`, { cause });
  });
  if (size !== undefined && !(hasBackup && size === (await stat(path)).size)) {
    throw new UsageError(`${address} exists already. Name another key: no backup is overwritten.`);
  }
}
