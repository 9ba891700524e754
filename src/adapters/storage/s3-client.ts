/** Signed requests to an S3-compatible store, repeated after errors of the network and of the store. */
import { createReadStream } from "node:fs";
import { AwsV4Signer } from "aws4fetch";
import { type ClientAnswer, repeatAfterErrors, sendOnce } from "../http-client/index.ts";

/** What opens the buckets of a store. */
export interface BucketAccess {
  /** The address of the store. If undefined, Amazon's address in the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A part of a file on this machine. */
export interface FilePart {
  readonly path: string;
  /** The first byte; default 0. */
  readonly start?: number;
  readonly size: number;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FilePart | string;
}

/** Without the URL and the body, because both may contain secrets. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly statusCode: number;

  constructor(statusCode: number, method: S3Request["method"]) {
    super(`the store answered ${statusCode} to ${method}`);
    this.statusCode = statusCode;
  }
}

/** The wait after the first attempt at a request. */
const firstWaitMs = 400;
/** The time limit until the response begins, and between two of its chunks. */
const idleTimeoutMs = 30_000;

export function objectUrl(
  { endpoint, region }: BucketAccess,
  { bucket, key }: { readonly bucket: string; readonly key: string },
): URL {
  const store = (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, "");
  return new URL(`${store}/${bucket}/${key}`);
}

/** Resolves also with a 404, except to a PUT. @throws S3Error or the network's error, of the last attempt. */
export async function requestS3(access: BucketAccess, s3Request: S3Request): Promise<ClientAnswer> {
  const { method } = s3Request;
  const answer = await repeatAfterErrors(firstWaitMs, async () => {
    const attempt = await requestOnce(access, s3Request);
    return attempt.statusCode < 500 ? attempt : reject(attempt, method);
  });
  const isAnswer = answer.statusCode < 300 || (answer.statusCode === 404 && method !== "PUT");
  return isAnswer ? answer : reject(answer, method);
}

async function reject({ statusCode, body }: ClientAnswer, method: S3Request["method"]): Promise<never> {
  await body.dump();
  throw new S3Error(statusCode, method);
}

async function requestOnce(access: BucketAccess, { method, url, headers, body }: S3Request) {
  const signed = await signS3(access, { method, url, headers: { ...headers } });
  const { bytes, length } = open(body);
  return sendOnce(signed.url, {
    method,
    headers: { ...Object.fromEntries(signed.headers), ...length },
    body: bytes,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
}

function open(body: S3Request["body"]) {
  if (body === undefined || typeof body === "string") {
    return { bytes: body ?? null, length: {} };
  }
  const { path, start = 0, size } = body;
  const bytes = size === 0 ? null : createReadStream(path, { start, end: start + size - 1 });
  return { bytes, length: { "content-length": String(size) } };
}

export function signS3(
  { region, accessKeyId, secretAccessKey }: BucketAccess,
  {
    url,
    ...rest
  }: {
    readonly method: S3Request["method"];
    readonly url: URL;
    readonly headers?: Record<string, string>;
    /** Signs the address, which then needs no headers. */
    readonly signQuery?: boolean;
  },
) {
  return new AwsV4Signer({
    ...rest,
    url: url.href,
    service: "s3",
    region,
    accessKeyId,
    secretAccessKey,
  }).sign();
}
