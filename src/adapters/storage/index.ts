/** Opens the storage of uploads: the data folder, or a bucket if one is configured. */
import { join } from "node:path";
import type { Storage } from "../../ports/files/storage.ts";
import { createDiskStorage } from "./disk.ts";
import { createS3Storage, type S3Settings } from "./s3.ts";

export interface StorageSettings {
  /** Also used with a bucket: uploads are assembled on the local disk first. */
  readonly dataDir: string;
  readonly s3: S3Settings | undefined;
}

export function openStorage({ dataDir, s3 }: StorageSettings): Storage {
  const folder = join(dataDir, "files");
  return s3 ? createS3Storage(s3, join(folder, "arriving")) : createDiskStorage(folder);
}
