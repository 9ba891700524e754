/** Where a backup is written and read: in a file, or in a bucket as `s3://bucket/key`. */
import { createReadStream, existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { Config } from "../../../../config/index.ts";
import { UsageError } from "../../../commands/command-error.ts";
import { draftSuffix } from "../archive/index.ts";
import type { BackupPlace } from "./backup-place.ts";
import { createBucketPlace } from "./bucket.ts";

import { removeLeftovers } from "./leftovers.ts";

export { removeLeftovers };

/** @throws UsageError for an address of a bucket that is not complete, or that can't be used. */
export function openPlace(config: Config, place: string): BackupPlace {
  return place.startsWith("s3:") ? createBucketPlace(config, place) : createFilePlace(resolve(place));
}

function createFilePlace(path: string): BackupPlace {
  return {
    name: path,
    async write(make) {
      if (existsSync(path)) {
        throw new UsageError(`${path} exists already. Name another file: no backup is overwritten.`);
      }
      const isDraft = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith(draftSuffix);
      await removeLeftovers(dirname(path), isDraft);
      return await make(path);
    },
    async read() {
      await access(path, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
        throw new UsageError(`The backup ${path} can't be read (${cause.code}).`, { cause });
      });
      return createReadStream(path);
    },
  };
}
