/** Uploads from a URL, and the storage of uploads in an S3 bucket. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallFailure, CallOptions } from "../src/client/index.ts";
import { readConfig } from "../src/config/index.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { type Bucket, openBucket } from "./support/bucket.ts";
import { executable, multipartForm, pdf, png } from "./support/files.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { maxFileBytes, type UploadedFile } from "./support/uploads.ts";

const app = useTestApp();

describe("a file from a URL", () => {
  const local = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });
  let source: Receiver;
  const files: Readonly<Record<string, [status: number, type: string, body: Buffer]>> = {
    "/dot.png": [200, "image/png", png],
    "/download": [200, "application/pdf", pdf],
    "/page.png": [200, "text/html", Buffer.from("<html>")],
    "/moved.png": [302, "text/plain", Buffer.alloc(0)],
    "/gone.png": [404, "text/plain", Buffer.alloc(0)],
    "/large.png": [200, "image/png", Buffer.concat([png, Buffer.alloc(maxFileBytes)])],
  };
  beforeAll(async () => {
    source = await startReceiver((request, response) => {
      const [status, type, body] = files[request.url ?? ""] ?? [500, "text/plain", Buffer.alloc(0)];
      response.writeHead(status, { "content-type": type, location: "/dot.png" }).end(body);
    });
  });
  afterAll(() => source[Symbol.asyncDispose]());
  const uploadFrom = (path: string, options: CallOptions = {}) =>
    local.call(uploads.upload_file, { url: `http://127.0.0.1:${source.port}${path}` }, options).then(
      ({ data }) => data,
      (error: CallFailure) => error,
    );

  test("is named by its path, with an extension for its type if it has none", async () => {
    expect(await uploadFrom("/dot.png")).toMatchObject({ file_name: "dot.png", content_type: "image/png" });
    expect(await uploadFrom("/download")).toMatchObject({ file_name: "download.pdf", file_size: pdf.length });
  });

  test("is fetched once under an idempotency key", async () => {
    const first = await uploadFrom("/dot.png", { idempotencyKey: "fetched" });
    const { requests } = source;
    expect(await uploadFrom("/dot.png", { idempotencyKey: "fetched" })).toEqual(first);
    expect(source.requests).toBe(requests);
  });

  test.each([
    ["/page.png", 415, "file_type_mismatch"],
    ["/moved.png", 422, "source_failed"],
    ["/gone.png", 422, "source_failed"],
    ["/large.png", 413, "file_too_large"],
  ])("%s is rejected", async (path, status, code) => {
    expect(await uploadFrom(path)).toMatchObject({ status, code });
    const remaining = await local.server.database.queries.selectFrom("uploads").select("status").execute();
    expect(remaining.filter((row) => row.status === "arriving")).toEqual([]);
  });

  test("is not fetched from this machine without the setting", async () => {
    const url = `https://127.0.0.1:${source.port}/dot.png`;
    const call = app.call(uploads.upload_file, { url });
    await expect(call).rejects.toMatchObject({ status: 400, code: "url_not_allowed" });
  });
});

describe("with a bucket", () => {
  let bucket: Bucket;
  let app: TestApp;
  beforeAll(async () => {
    bucket = await openBucket();
    app = await startTestApp({ env: bucket.env });
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    await bucket[Symbol.asyncDispose]();
  });

  test("files are stored, read in ranges, sent by a presigned link, and not stored if rejected", async () => {
    const body = multipartForm({ bytes: png });
    const { data } = (await (await app.fetch("/v1/uploads", { method: "POST", body })).json()) as {
      data: UploadedFile;
    };
    expect(await bucket.objects()).toHaveLength(1);
    const part = await fetch(data.storage_url, { headers: { range: "bytes=1-3" } });
    expect([part.status, await part.text()]).toEqual([206, "PNG"]);
    await app.call(messages.send_message, {
      to: "+14155550123",
      type: "image",
      media_url: data.storage_url,
    });
    await app.runDueJobs();
    const answer = await app.fetch("/simulator/phones/%2B14155550123/messages");
    const [sent] = ((await answer.json()) as { data: { media: { url: string } }[] }).data;
    expect(sent?.media.url).toContain("X-Amz-Signature=");
    const direct = await fetch(sent?.media.url ?? "");
    expect([direct.status, direct.headers.get("content-type")]).toEqual([200, "image/png"]);
    const bad = await app.fetch("/v1/uploads", {
      method: "POST",
      body: multipartForm({ bytes: executable }),
    });
    expect(bad.status).toBe(415);
    expect(await bucket.objects()).toHaveLength(1);
    expect(await readdir(join(app.dataDir, "files", "arriving"))).toEqual([]);
  });
});

test("the S3 settings are required together", () => {
  expect(() => readConfig({ TIDINGS_S3_BUCKET: "files" })).toThrow("TIDINGS_S3_ACCESS_KEY_ID takes a value");
});
