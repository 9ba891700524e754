/** Opens the storage of uploads, the data folder or a bucket, and the buckets of backups. */
import { join } from "node:path";
import type { Storage } from "../../ports/files/storage.ts";
import { createDiskStorage } from "./disk.ts";
import { createS3Storage } from "./s3.ts";
import type { BucketAccess } from "./s3-client.ts";

export { checkErasureLog, type ErasureRecord, openErasureLog, readErasureLog } from "./erasure-log/index.ts";
export { createLargeObject, type LargeObject, type UploadState } from "./large-object.ts";
export type { BucketAccess } from "./s3-client.ts";

export interface StorageSettings {
  /** Also used with a bucket: uploads are assembled on the local disk first. */
  readonly dataDir: string;
  readonly bucketAccess: BucketAccess | undefined;
  /** Undefined: files are stored in the data folder. */
  readonly fileBucket: string | undefined;
}

export function openStorage({ dataDir, bucketAccess, fileBucket }: StorageSettings): Storage {
  const folder = join(dataDir, "files");
  return bucketAccess && fileBucket
    ? createS3Storage(bucketAccess, fileBucket, join(folder, "arriving"))
    : createDiskStorage(folder);
}
