/**
 * Stores files in an S3-compatible bucket.
 *
 * A file is assembled on the local disk first: S3 requires the length in advance, a rejected or aborted
 * upload never reaches the bucket, and a failed transfer can be retried.
 */
import { createReadStream } from "node:fs";
import { AwsV4Signer } from "aws4fetch";
import type { ByteRange, FileMetadata, Storage } from "../../ports/files/storage.ts";
import { type ClientAnswer, loadClient, repeatAfterErrors } from "../http-client/index.ts";
import { requireStorageKey } from "./key.ts";
import { createSpool, type SpooledFile } from "./spool.ts";

export interface S3Settings {
  /** The address of the store. If undefined, Amazon's address in the region. */
  readonly endpoint: string | undefined;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The wait after the first attempt at a request. */
const firstWaitMs = 400;
/** The time limit until the response begins, and between two of its chunks. */
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
async function requestWithRetries(settings: S3Settings, s3Request: S3Request): Promise<ClientAnswer> {
  const { method } = s3Request;
  const answer = await repeatAfterErrors(firstWaitMs, async () => {
    const attempt = await requestOnce(settings, s3Request);
    return attempt.statusCode < 500 ? attempt : reject(attempt, method);
  });
  const isAnswer = answer.statusCode < 300 || (answer.statusCode === 404 && method !== "PUT");
  return isAnswer ? answer : reject(answer, method);
}

/** @throws Error without the URL and the body, because both may contain secrets. */
async function reject({ statusCode, body }: ClientAnswer, method: Method): Promise<never> {
  await body.dump();
  throw new Error(`the store answered ${statusCode} to ${method}`);
}

async function requestOnce(settings: S3Settings, { method, url, headers, file }: S3Request) {
  const signed = await sign(settings, { method, url, headers: { ...headers } });
  const length = file ? { "content-length": String(file.size) } : {};
  const undici = await loadClient();
  return undici.request(signed.url, {
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
