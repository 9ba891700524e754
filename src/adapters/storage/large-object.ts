/**
 * One large object in an S3-compatible bucket, which is written in parts, so that an upload that was
 * interrupted goes on with the parts that are missing. The object exists when the last step is done.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientAnswer, waitAfter } from "../http-client/index.ts";
import { type BucketAccess, type FilePart, objectUrl, requestS3, S3Error } from "./s3-client.ts";

/** How far an upload has come. */
export interface UploadState {
  readonly upload_id: string;
  readonly part_bytes: number;
  /** Of the parts that the store has, from the first one on. */
  readonly etags: readonly string[];
}

export interface LargeObject {
  /** In bytes; undefined if there is no such object. */
  readSize(): Promise<number | undefined>;
  /**
   * Uploads a file. `state` is that of an earlier run; `onProgress` is awaited after each part.
   * @returns how many parts were sent, and how many the store had already.
   * @throws when a request fails for the last time. The state stays valid.
   */
  upload(
    path: string,
    state: UploadState | undefined,
    onProgress: (state: UploadState) => Promise<void>,
  ): Promise<{ readonly sent: number; readonly kept: number }>;
  /** The content. A lost connection is continued. @throws if there is no such object. */
  read(): AsyncIterable<Uint8Array>;
}

interface Upload {
  readonly path: string;
  readonly size: number;
  readonly onProgress: (state: UploadState) => Promise<void>;
}

/** S3 takes parts of at least 5 MiB, and 10,000 of them. */
const defaultPartBytes = 16 * 1024 * 1024;
const maxParts = 10_000;

export function createLargeObject(
  access: BucketAccess,
  place: { readonly bucket: string; readonly key: string },
): LargeObject {
  const urlOf = (parameters: Readonly<Record<string, string>> = {}) => {
    const url = objectUrl(access, place);
    url.search = new URLSearchParams(parameters).toString();
    return url;
  };

  const begin = async (size: number): Promise<UploadState> => {
    const { body } = await requestS3(access, { method: "POST", url: urlOf({ uploads: "" }) });
    const upload_id = /<UploadId>([^<]+)<\/UploadId>/.exec(await body.text())?.[1];
    if (upload_id === undefined) {
      throw new Error("the store did not begin the upload");
    }
    return { upload_id, part_bytes: Math.max(defaultPartBytes, Math.ceil(size / maxParts)), etags: [] };
  };

  const sendPart = async (uploadId: string, number: number, part: FilePart) => {
    const url = urlOf({ partNumber: String(number), uploadId });
    const headers = { "content-md5": await md5Of(part) };
    const answer = await requestS3(access, { method: "PUT", url, headers, body: part });
    await answer.body.dump();
    return etagOf(answer);
  };

  const complete = async ({ upload_id: uploadId, etags }: UploadState) => {
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
    );
    const answer = await requestS3(access, {
      method: "POST",
      url: urlOf({ uploadId }),
      headers: { "content-type": "application/xml" },
      body: `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 404) {
      throw new S3Error(404, "POST");
    }
    // An error may come with the status 200.
    if (!text.includes("<CompleteMultipartUploadResult")) {
      throw new Error("the store did not complete the upload");
    }
  };

  const uploadFrom = async (begun: UploadState, { path, size, onProgress }: Upload) => {
    let state = begun;
    const kept = state.etags.length;
    const count = Math.max(1, Math.ceil(size / state.part_bytes));
    for (let number = kept + 1; number <= count; number += 1) {
      await onProgress(state);
      const start = (number - 1) * state.part_bytes;
      const part = { path, start, size: Math.min(state.part_bytes, size - start) };
      state = { ...state, etags: [...state.etags, await sendPart(state.upload_id, number, part)] };
    }
    await onProgress(state);
    await complete(state);
    return { sent: count - kept, kept };
  };

  return {
    async readSize() {
      const { statusCode, headers, body } = await requestS3(access, { method: "HEAD", url: urlOf() });
      await body.dump();
      return statusCode === 404 ? undefined : Number(headers["content-length"]);
    },

    async upload(path, earlier, onProgress) {
      const { size } = await stat(path);
      if (earlier) {
        try {
          return await uploadFrom(earlier, { path, size, onProgress });
        } catch (error) {
          // The store forgets uploads after some time.
          if (!(error instanceof S3Error && error.statusCode === 404)) {
            throw error;
          }
        }
      }
      return await uploadFrom(await begin(size), { path, size, onProgress });
    },

    async *read() {
      let offset = 0;
      for (let attempt = 1; ; attempt += 1) {
        const answer = await requestS3(access, {
          method: "GET",
          url: urlOf(),
          headers: offset === 0 ? {} : { range: `bytes=${offset}-` },
        });
        if (answer.statusCode === 404) {
          await answer.body.dump();
          throw new Error("there is no such object");
        }
        try {
          for await (const chunk of answer.body) {
            const bytes: Uint8Array = chunk; // undici's body is untyped
            yield bytes;
            offset += bytes.length;
            attempt = 1;
          }
          return;
        } catch (error) {
          const waitMs = waitAfter(attempt, firstWaitMs);
          if (waitMs === undefined) {
            throw error;
          }
          await sleep(waitMs);
        }
      }
    },
  };
}

/** The wait after a connection was lost while the object is read. */
const firstWaitMs = 400;

async function md5Of({ path, start = 0, size }: FilePart): Promise<string> {
  const hash = createHash("md5");
  for await (const chunk of size === 0 ? [] : createReadStream(path, { start, end: start + size - 1 })) {
    hash.update(chunk);
  }
  return hash.digest("base64");
}

function etagOf({ headers }: ClientAnswer): string {
  const etag = [headers.etag].flat()[0];
  if (etag === undefined) {
    throw new Error("the store did not name the part that it has");
  }
  return etag;
}
