/**
 * Stores files in an S3-compatible bucket.
 *
 * A file is assembled on the local disk first: S3 requires the length in advance, a rejected or aborted upload
 * never reaches the bucket, and a failed transfer can be retried.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { type Dispatcher, request } from "undici";
import type { ByteRange, FileMetadata, Storage } from "../../ports/storage.ts";
import { requireStorageKey } from "./key.ts";
import { createSpool, type SpooledFile } from "./spool.ts";

export interface S3Settings {
  /** The address of the store; undefined: Amazon's in that region. */
  readonly endpoint: string | undefined;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Attempts of one request, each after a longer wait. */
const maxAttempts = 3;
/** Until the response begins, and between two chunks of it. */
const idleTimeoutMs = 30_000;

export function createS3Storage(settings: S3Settings, spoolFolder: string): Storage {
  const spool = createSpool(spoolFolder);
  const { region, bucket } = settings;
  const endpoint = (settings.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, "");
  const addressOf = (key: string) => new URL(`${endpoint}/${bucket}/${requireStorageKey(key)}`);
  const send = (method: Method, key: string, options: S3RequestOptions = {}) =>
    requestWithRetries(settings, { method, url: addressOf(key), ...options });
  return {
    async write(key, body, metadata) {
      await spool.withFile(body, async (file) => {
        const { body: answer } = await send("PUT", key, { file, headers: toHeaders(metadata) });
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
      const signed = await sign(settings, { method: "GET", url, signQuery: true });
      return signed.url.href;
    },
  };
}

type Method = "GET" | "PUT" | "DELETE";

interface S3RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly file?: SpooledFile;
}

interface S3Request extends S3RequestOptions {
  readonly method: Method;
  readonly url: URL;
}

/** Retries errors of the network and of the store (5xx). @throws when the last attempt fails. */
async function requestWithRetries(
  settings: S3Settings,
  s3Request: S3Request,
): Promise<Dispatcher.ResponseData> {
  for (let number = 1; ; number += 1) {
    const answer = await requestOnce(settings, s3Request).catch((error: unknown) => {
      if (number === maxAttempts) {
        throw error;
      }
    });
    if (answer && (answer.statusCode < 300 || (answer.statusCode === 404 && s3Request.method !== "PUT"))) {
      return answer;
    }
    await answer?.body.dump();
    if (answer && (number === maxAttempts || answer.statusCode < 500)) {
      // Without the URL and the body: both may contain secrets.
      throw new Error(`the store answered ${answer.statusCode} to ${s3Request.method}`);
    }
    await sleep(100 * 4 ** number);
  }
}

async function requestOnce(settings: S3Settings, { method, url, headers, file }: S3Request) {
  const signed = await sign(settings, { method, url, headers: { ...headers } });
  const length = file ? { "content-length": String(file.size) } : {};
  return request(signed.url, {
    method,
    headers: { ...Object.fromEntries(signed.headers), ...length },
    body: file ? createReadStream(file.path) : null,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
}

function sign(
  { region, accessKeyId, secretAccessKey }: S3Settings,
  s3Request: { method: Method; url: URL; headers?: Record<string, string>; signQuery?: boolean },
) {
  const { url, ...rest } = s3Request;
  return new AwsV4Signer({
    ...rest,
    url: url.href,
    service: "s3",
    region,
    accessKeyId,
    secretAccessKey,
  }).sign();
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
