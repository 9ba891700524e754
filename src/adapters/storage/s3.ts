/**
 * Files in a bucket that speaks S3: Amazon's, or a store of one's own.
 *
 * A file is first whole on this machine's disk: S3 wants to know the length beforehand, a refused or broken
 * upload never reaches the bucket, and a failed transfer can be repeated.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { type Dispatcher, request } from "undici";
import type { ByteRange, FileMetadata, Storage } from "../../ports/storage.ts";
import { requireStorageKey } from "./key.ts";
import { createSpool, type SpooledFile } from "./spool.ts";

export interface S3Settings {
  /** Where the store is; Amazon's of that region when left out. */
  readonly endpoint: string | undefined;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Tries of one request, each after a longer wait. */
const maxAttempts = 3;
/** For the answer to begin, and between two pieces of it. */
const idleTimeoutMs = 30_000;

export function createS3Storage(settings: S3Settings, spoolFolder: string): Storage {
  const spool = createSpool(spoolFolder);
  const { region, bucket } = settings;
  const endpoint = (settings.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, "");
  const addressOf = (key: string) => new URL(`${endpoint}/${bucket}/${requireStorageKey(key)}`);
  const send = (method: Method, key: string, options: S3RequestOptions = {}) =>
    requestWithRetries(settings, { method, url: addressOf(key), ...options });
  return {
    async write(key, body, facts) {
      await spool.withFile(body, async (file) => {
        const { body: answer } = await send("PUT", key, { file, headers: describe(facts) });
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

/** Asks until there is an answer that another try would not change. @throws when there is none. */
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
      // Neither the address nor the body: both may tell what belongs in no log.
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

function describe({ contentType, disposition }: FileMetadata): Record<string, string> {
  return {
    "content-type": contentType,
    "content-disposition": disposition,
    "cache-control": "private, max-age=604800, immutable",
  };
}

function rangeOf(range: ByteRange | undefined): Record<string, string> {
  return range ? { range: `bytes=${range.start}-${range.end}` } : {};
}
