/**
 * Stores files in an S3-compatible bucket.
 *
 * A file is assembled on the local disk first: S3 requires the length in advance, a rejected or aborted
 * upload never reaches the bucket, and a failed transfer can be retried.
 */
import type { ByteRange, FileMetadata, Storage } from "../../ports/files/storage.ts";
import { requireStorageKey } from "./key.ts";
import { type BucketAccess, objectUrl, requestS3, type S3Request, signS3 } from "./s3-client.ts";
import { createSpool } from "./spool.ts";

export function createS3Storage(access: BucketAccess, bucket: string, spoolFolder: string): Storage {
  const spool = createSpool(spoolFolder);
  const addressOf = (key: string) => objectUrl(access, { bucket, key: requireStorageKey(key) });
  const send = (
    method: S3Request["method"],
    key: string,
    options: Pick<S3Request, "headers" | "body"> = {},
  ) => requestS3(access, { method, url: addressOf(key), ...options });
  return {
    async write(key, body, metadata) {
      await spool.withFile(body, async (file) => {
        const { body: answer } = await send("PUT", key, { body: file, headers: toHeaders(metadata) });
        await answer.dump();
      });
    },

    async read(key, range) {
      const { statusCode, body } = await send("GET", key, { headers: rangeOf(range) });
      if (statusCode === 404) {
        await body.dump();
        return undefined;
      }
      return body;
    },

    async delete(key) {
      const { body } = await send("DELETE", key);
      await body.dump();
    },

    async presign(key, seconds) {
      const url = addressOf(key);
      url.searchParams.set("X-Amz-Expires", String(seconds));
      const signed = await signS3(access, { method: "GET", url, signQuery: true });
      return signed.url.href;
    },
  };
}

function toHeaders({ contentType, disposition }: FileMetadata): Record<string, string> {
  return {
    "content-type": contentType,
    "content-disposition": disposition,
    "cache-control": "private, max-age=604800, immutable",
  };
}

function rangeOf(range: ByteRange | undefined): Record<string, string> {
  return range ? { range: `bytes=${range.start}-${range.end}` } : {};
}
