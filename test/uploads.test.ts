/** Uploads: what is taken and refused, what is left behind, and who may read it. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createDiskStorage } from "../src/adapters/storage/disk.ts";
import { createProxy } from "../src/cli/proxy.ts";
import type { CallFailure, CallOptions } from "../src/client/index.ts";
import { readConfig } from "../src/config/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { ownerKey, startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { type Bucket, openBucket } from "./support/bucket.ts";
import { expectFailure } from "./support/expect-failure.ts";
import {
  compoundFile,
  csv,
  docx,
  executable,
  type FilePart,
  gif,
  jpeg,
  mp3,
  mp4,
  multipartForm,
  ogg,
  pdf,
  png,
  zip,
} from "./support/files.ts";
import { createOtherTenant, type OtherTenant } from "./support/other-tenant.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";

const cdn = "https://cdn.example.com/files";
const limit = 33_554_432;

const app = useTestApp({ env: { TIDINGS_CDN_URL: `${cdn}/` } });
let other: OtherTenant;
beforeAll(async () => {
  other = await createOtherTenant(app);
});

interface Uploaded {
  readonly id: string;
  readonly storage_url: string;
  readonly cdn_url?: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly content_type: string;
}

async function send(body: FormData, init: { headers?: Record<string, string>; key?: string } = {}) {
  const answer = await app.fetch("/v1/uploads", { method: "POST", body, ...init });
  const { data, error } = (await answer.json()) as {
    data: Uploaded;
    error: { code: string; message: string };
  };
  return { status: answer.status, headers: answer.headers, data, error };
}

const upload = async (part: FilePart) => (await send(multipartForm(part))).data;

/** Everything in the store: what arrived, and what is still arriving. */
async function stored(): Promise<string[]> {
  const entries = await readdir(join(app.dataDir, "files"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const rows = () => app.server.database.queries.selectFrom("uploads").selectAll().execute();

describe("an accepted file", () => {
  const accepted: readonly [name: string, type: string, bytes: Buffer, storedType: string][] = [
    ["photo.png", "image/png", png, "image/png"],
    ["PHOTO.JPG", "image/jpeg", jpeg, "image/jpeg"],
    ["anim.gif", "", gif, "image/gif"],
    ["film.mp4", "video/mp4", mp4, "video/mp4"],
    ["song.mp3", "audio/mpeg", mp3, "audio/mpeg"],
    ["voice.ogg", "audio/ogg; codecs=opus", ogg, "audio/ogg"],
    ["menu.pdf", "application/octet-stream", pdf, "application/pdf"],
    ["letter.docx", "", docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["letter.doc", "application/msword", compoundFile("WordDocument"), "application/msword"],
    ["people.csv", "application/vnd.ms-excel", csv, "text/csv"],
    ["notes.txt", "text/plain", Buffer.from("año — 1 < 2"), "text/plain"],
  ];

  test.each(accepted)("%s, declared as %j", async (name, type, bytes, storedType) => {
    const { status, data } = await send(multipartForm({ name, type, bytes }));
    expect(status).toBe(201);
    expect(data).toMatchObject({ file_name: name, file_size: bytes.length, content_type: storedType });
    const file = await fetch(data.storage_url);
    expect(file.status).toBe(200);
    expect(file.headers.get("content-type")).toBe(storedType);
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("has a CDN URL only on request, with the field before or after the file", async () => {
    const fields = { generate_cdn: "true" };
    const [none, before, after] = await Promise.all([
      send(multipartForm({ bytes: png })),
      send(multipartForm({ bytes: png }, fields)),
      send(multipartForm({ bytes: png }, {}, fields)),
    ]);
    expect(none.data).not.toHaveProperty("cdn_url");
    for (const { data } of [before, after]) {
      const path = new URL(data.storage_url).pathname;
      expect(data.cdn_url).toBe(cdn + path.slice("/files".length));
      const open = await app.fetch(path, { key: null });
      expect([open.status, open.headers.get("cache-control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
    expect((await app.fetch(new URL(none.data.storage_url).pathname, { key: null })).status).toBe(404);
  });

  test("keeps its name, without a path", async () => {
    const { data } = await send(multipartForm({ name: "../../etc/año\u202egnp.png", bytes: png }));
    expect(data.file_name).toBe("añognp.png");
    const outside = (await stored()).filter((path) => !path.startsWith(join(app.dataDir, "files")));
    expect(outside).toEqual([]);
    expect(await rows()).not.toContainEqual(expect.objectContaining({ key: expect.stringContaining("png") }));
  });

  test("can be sent as base64 or JSON, from exactly one source", async () => {
    const content_base64 = png.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "dot.png" });
    expect(data).toMatchObject({ file_name: "dot.png", file_size: png.length });
    const json = { content_base64, file_name: "dot.png" };
    expect((await app.fetch("/v1/uploads", { method: "POST", json })).status).toBe(201);
    for (const wrong of [{}, { ...json, url: "https://example.com/a.png" }]) {
      const answer = await app.fetch("/v1/uploads", { method: "POST", json: wrong });
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { code: "one_source_needed" } },
      ]);
    }
    const nameless = await app.fetch("/v1/uploads", { method: "POST", json: { content_base64 } });
    expect(await nameless.json()).toMatchObject({ error: { code: "file_name_needed", param: "file_name" } });
  });
});

describe("a rejected file is not stored", () => {
  const html = Buffer.from("<!DOCTYPE html><html><script>alert(1)</script></html>");
  const php = Buffer.from("<?php system($_GET['c']); ?>");
  const archive = zip({ "index.html": html.toString() });
  const rejected: readonly [reason: string, name: string, type: string, bytes: Buffer, code: string][] = [
    ["SVG", "a.svg", "image/svg+xml", Buffer.from("<svg/>"), "file_type_not_allowed"],
    ["HTML", "a.html", "text/html", html, "file_type_not_allowed"],
    ["an executable", "a.exe", "", executable, "file_type_not_allowed"],
    ["no file extension", "photo", "image/png", png, "file_type_not_allowed"],
    ["an executable called a picture", "a.png", "image/png", executable, "file_type_mismatch"],
    ["SVG called a picture", "a.png", "image/png", Buffer.from("<svg xmlns='x'/>"), "file_type_mismatch"],
    ["a picture declared as a film", "a.png", "video/mp4", png, "file_type_mismatch"],
    ["a picture of another type", "a.jpg", "image/jpeg", png, "file_type_mismatch"],
    ["HTML called text", "a.txt", "text/plain", html, "file_unsafe"],
    ["a program called CSV", "a.csv", "text/csv", Buffer.from("#!/bin/sh\nrm -rf /\n"), "file_unsafe"],
    ["binary called CSV", "a.csv", "text/csv", Buffer.from([97, 44, 0, 255, 254]), "file_type_mismatch"],
    ["UTF-16 called CSV", "a.csv", "text/csv", Buffer.from("\ufeffa,b", "utf16le"), "file_type_mismatch"],
    ["GIF and HTML", "a.gif", "image/gif", Buffer.concat([gif, html]), "file_unsafe"],
    ["GIF and PHP", "a.gif", "image/gif", Buffer.concat([gif, php]), "file_unsafe"],
    ["JPEG and ZIP", "a.jpg", "image/jpeg", Buffer.concat([jpeg, archive]), "file_unsafe"],
    ["PDF and ZIP", "a.pdf", "application/pdf", Buffer.concat([pdf, archive]), "file_unsafe"],
    ["PDF and HTML", "a.pdf", "application/pdf", Buffer.concat([pdf, html]), "file_unsafe"],
    [
      "PDF that runs a script",
      "a.pdf",
      "",
      Buffer.concat([pdf, Buffer.from("/S /JavaScript /JS (x)")]),
      "file_unsafe",
    ],
    [
      "PDF that does not begin as one",
      "a.pdf",
      "",
      Buffer.concat([Buffer.from("MZ"), pdf]),
      "file_type_mismatch",
    ],
    [
      "GIF and JavaScript",
      "a.gif",
      "",
      Buffer.concat([Buffer.from("GIF89a/*"), gif.subarray(8)]),
      "file_unsafe",
    ],
    ["an archive called a document", "a.docx", "", archive, "file_type_mismatch"],
    [
      "a document with macros",
      "a.docx",
      "",
      zip({ "word/document.xml": "", "word/vbaProject.bin": "", "[Content_Types].xml": "" }),
      "file_unsafe",
    ],
    ["an installer called a document", "a.doc", "", compoundFile("Installer"), "file_type_mismatch"],
    ["nothing", "a.png", "", Buffer.alloc(0), "file_empty"],
  ];

  test.each(rejected)("%s", async (_reason, name, type, bytes, code) => {
    const before = [await stored(), await rows()];
    const { status, error } = await send(multipartForm({ name, type, bytes }));
    expect([status, error.code]).toEqual([code === "file_empty" ? 400 : 415, code]);
    expect([await stored(), await rows()]).toEqual(before);
  });

  test("a signature across two chunks is detected", async () => {
    for (const at of [65_530, 65_533, 65_536]) {
      const padded = Buffer.concat([
        png,
        Buffer.alloc(at - png.length, 7),
        Buffer.from("<ScRiPt >"),
        Buffer.alloc(9000),
      ]);
      expect((await send(multipartForm({ bytes: padded }))).error.code).toBe("file_unsafe");
    }
  });

  test("32 MB are accepted and one byte more is not", async () => {
    const bytes = Buffer.concat([png, Buffer.alloc(limit - png.length + 1)]);
    const before = (await stored()).length;
    const whole = await send(multipartForm({ bytes: bytes.subarray(0, limit) }));
    expect([whole.status, whole.data.file_size]).toEqual([201, limit]);
    const over = await send(multipartForm({ bytes }));
    expect([over.status, over.error.code]).toEqual([413, "file_too_large"]);
    expect((await stored()).length).toBe(before + 1);
  });

  test("far more than 32 MB is rejected before it is read", async () => {
    const { status } = await send(multipartForm({ bytes: Buffer.alloc(limit + 200_000) }));
    expect(status).toBe(413);
  });

  test.each([
    ["two files", (data: FormData) => data.append("file", new Blob([png]), "b.png"), "malformed_form"],
    [
      "a file by another name",
      (data: FormData) => data.append("photo", new Blob([png]), "b.png"),
      "malformed_form",
    ],
    [
      "a file and a URL",
      (data: FormData) => data.append("url", "https://example.com/a.png"),
      "one_source_needed",
    ],
    // The parser cut such a field, and the file was stored without its end.
    [
      "a field that is too long",
      (data: FormData) => {
        data.delete("file");
        data.append("file_name", "a.txt");
        data.append("content_base64", "YWJj".repeat(1_025));
      },
      "malformed_form",
    ],
    ["a wrong field after it", (data: FormData) => data.append("generate_cdn", "perhaps"), "invalid_request"],
  ])("%s", async (_, change, code) => {
    const before = [await stored(), await rows()];
    const data = multipartForm({ bytes: png });
    change(data);
    const { status, error } = await send(data);
    expect([status, error.code]).toEqual([400, code]);
    expect([await stored(), await rows()]).toEqual(before);
  });

  test("an aborted upload", async () => {
    const before = [await stored(), await rows()];
    for (const share of [0.2, 0.9]) {
      await abortUpload(2_000_000, share);
    }
    await expect.poll(async () => [await stored(), await rows()]).toEqual(before);
  });

  test("the row and file of an upload interrupted by a crash are deleted after an hour", async () => {
    const { data } = await send(multipartForm({ bytes: png }));
    await app.server.database.queries
      .updateTable("uploads")
      .set({ status: "arriving" })
      .where("id", "=", data.id)
      .execute();
    const before = (await stored()).length;
    await app.advanceTime(3 * 3_600_000);
    expect((await rows()).map(({ id }) => id)).not.toContain(data.id);
    expect((await stored()).length).toBe(before - 1);
  });
});

test("a public file is not public any more without a CDN", async () => {
  await using later = await startTestApp();
  const answer = await later.fetch("/v1/uploads", { method: "POST", body: multipartForm({ bytes: png }) });
  const { data } = (await answer.json()) as { data: Uploaded };
  const { queries } = later.server.database;
  await queries.updateTable("uploads").set({ is_public: true }).where("id", "=", data.id).execute();
  const [path = ""] = data.storage_url.slice(later.address.length).split("?");
  const statusOf = async (url: string) => {
    const answer = await fetch(url);
    // An unread response would keep the app from closing.
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await statusOf(later.address + path)).toBe(404);
  expect(await statusOf(data.storage_url)).toBe(200);
});

test("partial files of a killed process are deleted, also while the next one keeps running", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidings-store-"));
  const storage = createDiskStorage(folder);
  const body = async function* () {
    yield png;
  };
  const facts = { contentType: "image/png", disposition: "inline" };
  try {
    await storage.write("org_a/first", body(), facts);
    await writeFile(join(folder, "arriving", "partial"), "half");
    await storage.write("org_a/second", body(), facts);
    expect(await readdir(join(folder, "arriving"))).toEqual(["partial"]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3_600_000 });
    await storage.write("org_a/third", body(), facts);
    expect(await readdir(join(folder, "arriving"))).toEqual([]);
  } finally {
    vi.useRealTimers();
    await rm(folder, { recursive: true });
  }
});

/** Sends a share of a form and ends the connection. */
async function abortUpload(length: number, share: number): Promise<void> {
  const head = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), png, Buffer.alloc(length)]);
  const headers = {
    "x-api-key": ownerKey,
    "content-type": "multipart/form-data; boundary=x",
    "content-length": body.length,
  };
  await new Promise<void>((resolve) => {
    const sent = request(`${app.address}/v1/uploads`, { method: "POST", headers });
    sent.on("error", () => resolve());
    sent.write(body.subarray(0, Math.floor(body.length * share)), () =>
      setTimeout(() => sent.destroy(new Error("gone")), 100),
    );
  });
}

describe("under an idempotency key", () => {
  test("the same file is one upload, and another file is rejected", async () => {
    const headers = { "idempotency-key": "once" };
    const before = (await stored()).length;
    const first = await send(multipartForm({ bytes: png }), { headers });
    const again = await send(multipartForm({ bytes: png }), { headers });
    expect(again.data).toEqual(first.data);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const other = await send(multipartForm({ name: "a.gif", bytes: gif }), { headers });
    expect([other.status, other.error.code]).toEqual([422, "idempotency_key_reused"]);
    expect((await stored()).length).toBe(before + 1);
  });

  test("two concurrent requests are one upload", async () => {
    const headers = { "idempotency-key": "concurrent" };
    const before = (await stored()).length;
    const answers = await Promise.all([1, 2].map(() => send(multipartForm({ bytes: png }), { headers })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
    expect((await stored()).length).toBe(before + 1);
  });
});

test("a key without the scope can't upload", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "reader", scopes: ["contacts:read"] });
  const before = await rows();
  const { status, error } = await send(multipartForm({ bytes: png }), { key: data.secret_key });
  expect([status, error.code]).toEqual([403, "insufficient_scope"]);
  expect(await rows()).toEqual(before);
});

describe("a link", () => {
  test("lasts seven days, and its response is cacheable and sandboxed", async () => {
    const { storage_url } = await upload({ bytes: png });
    const answer = await fetch(storage_url);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      "content-disposition": "inline; filename=\"photo.png\"; filename*=UTF-8''photo.png",
      "cache-control": expect.stringMatching(/^private, max-age=60\d{4}, immutable$/),
      etag: `"${createHash("sha256").update(png).digest("hex")}"`,
    });
  });

  test("to a document downloads it under its name", async () => {
    const { storage_url } = await upload({ name: 'año "x".pdf', bytes: pdf });
    const disposition = (await fetch(storage_url)).headers.get("content-disposition");
    expect(disposition).toBe("attachment; filename=\"a_o x.pdf\"; filename*=UTF-8''a%C3%B1o%20x.pdf");
  });

  test.each<[string, string, number, string | null]>([
    ["HEAD", "", 200, null],
    ["GET", "bytes=0-3", 206, "bytes 0-3/70"],
    ["GET", "bytes=60-", 206, "bytes 60-69/70"],
    ["GET", "bytes=-4", 206, "bytes 66-69/70"],
    ["GET", "bytes=70-", 416, null],
    ["GET", "lines=1-2", 200, null],
  ])("answers %s with Range %j with status %i", async (method, range, status, contentRange) => {
    const { storage_url } = await upload({ bytes: png });
    const answer = await fetch(storage_url, { method, headers: range ? { range } : {} });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([status, contentRange]);
    if (status === 206) {
      const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(contentRange ?? "") ?? [];
      const part = Buffer.from(await answer.arrayBuffer());
      expect(part.equals(png.subarray(Number(from), Number(to) + 1))).toBe(true);
    }
  });

  test("that was changed, or is another file's, is rejected", async () => {
    const [one, other] = [await upload({ bytes: png }), await upload({ bytes: gif, name: "a.gif" })];
    const [url, theirs] = [new URL(one.storage_url), new URL(other.storage_url)];
    const { expires = "", signature = "" } = Object.fromEntries(url.searchParams);
    for (const wrong of [
      `${url.pathname}?expires=${Number(expires) + 1}&signature=${signature}`,
      `${url.pathname}?expires=${expires}&signature=${signature.slice(0, -1)}`,
      `${url.pathname}?expires=${expires}`,
      `${url.pathname}?signature=${signature}`,
      `${url.pathname}?expires=${expires}&expires=${expires}&signature=${signature}`,
      `${theirs.pathname}?expires=${expires}&signature=${signature}`,
    ]) {
      const answer = await app.fetch(wrong, { key: null });
      expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "link_invalid" } }]);
    }
    for (const path of [url.pathname, "/files/org_x/..%2f..%2fetc%2fpasswd", "/files/%2e%2e/x"]) {
      const answer = await app.fetch(path, { key: null });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { type: "not_found" } }]);
    }
  });

  test("that has expired is rejected", async () => {
    const { storage_url } = await upload({ bytes: png });
    await app.advanceTime(7 * 24 * 3_600_000 + 2_000);
    expect((await fetch(storage_url)).status).toBe(403);
  });
});

test("the S3 settings are required together", () => {
  expect(() => readConfig({ TIDINGS_S3_BUCKET: "files" })).toThrow("TIDINGS_S3_ACCESS_KEY_ID takes a value");
});

test("another tenant's upload is stored under its organization", async () => {
  const theirs = await send(multipartForm({ bytes: png }), { key: other.key });
  expect(new URL(theirs.data.storage_url).pathname).toContain(other.organization_id);
});

test("uploads are listed newest first, found by name, and each has a fresh link", async () => {
  const [first, second] = [
    await upload({ name: "one menu.pdf", bytes: pdf }),
    await upload({ name: "two.png", bytes: png }),
  ];
  const { data } = await app.call(uploads.list_uploads, { per_page: 2 });
  expect(data.map(({ id }) => id)).toEqual([second.id, first.id]);
  const found = await app.call(uploads.list_uploads, { search: "ONE M" });
  expect(found.data).toEqual([expect.objectContaining({ id: first.id, file_name: "one menu.pdf" })]);
  await app.advanceTime(8 * 24 * 3_600_000);
  expect((await fetch(first.storage_url)).status).toBe(403);
  const { data: again } = await app.call(uploads.get_upload, { id: first.id });
  expect((await fetch(again.storage_url)).status).toBe(200);
});

test("a deleted upload's row, links and file are deleted", async () => {
  const before = await stored();
  const { id, storage_url } = await upload({ name: "gone.png", bytes: png });
  expect((await fetch(storage_url)).status).toBe(200);
  await app.call(uploads.delete_upload, { id });
  const notFound = { status: 404, code: "upload_not_found" };
  expect(await expectFailure(app.call(uploads.get_upload, { id }))).toMatchObject(notFound);
  expect(await expectFailure(app.call(uploads.delete_upload, { id }))).toMatchObject(notFound);
  expect((await fetch(storage_url)).status).toBe(404);
  const message = { to: "+14155550124", type: "image" as const, media_url: storage_url };
  expect(await expectFailure(app.call(messages.send_message, message))).toMatchObject(notFound);
  await app.runDueJobs();
  expect(await stored()).toEqual(before);
});

describe("an upload in a message", () => {
  const to = "+14155550123";
  const send = (type: "image" | "document" | "audio", media_url: string) =>
    app.call(messages.send_message, { to, type, media_url }).catch((error: CallFailure) => error);

  /** The media of the latest message on the phone. */
  async function latestMedia() {
    await app.runDueJobs();
    const answer = await app.fetch(`/simulator/phones/${encodeURIComponent(to)}/messages`);
    const { data } = (await answer.json()) as {
      data: { media: { url: string; file_name: string | null } }[];
    };
    return data[0]?.media;
  }

  test("reaches the channel with a new link, even after its own has expired", async () => {
    const { storage_url } = await upload({ name: "menu.pdf", bytes: pdf });
    await app.advanceTime(8 * 24 * 3_600_000);
    expect((await fetch(storage_url)).status).toBe(403);
    await send("document", storage_url.replace("127.0.0.1", "an-earlier-host"));
    const media = await latestMedia();
    expect(media?.file_name).toBe("menu.pdf");
    expect(media?.url).not.toBe(storage_url);
    expect((await fetch(media?.url ?? "")).status).toBe(200);
    expect(media).not.toHaveProperty("upload");
  });

  test("of another tenant is rejected like one that does not exist", async () => {
    const theirs = await app.fetch("/v1/uploads", {
      method: "POST",
      body: multipartForm({ bytes: png }),
      key: other.key,
    });
    const { data } = (await theirs.json()) as { data: Uploaded };
    const none = data.storage_url.replace(/\/files\/[^?]+/, (path) => `${path.slice(0, -3)}xyz`);
    const failures = [await send("image", data.storage_url), await send("image", none)];
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 404, code: "upload_not_found", error: { param: "media_url" } });
    }
  });

  test("is rejected if the channel would reject its type or size", async () => {
    const large = await upload({ bytes: Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]) });
    const animation = await upload({ name: "a.gif", bytes: gif });
    const failures = [
      await send("image", large.storage_url),
      await send("image", animation.storage_url),
      await send("audio", animation.storage_url),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 422, code: "media_not_sendable" });
    }
  });
});

describe("a file from a URL", () => {
  let local: TestApp;
  let source: Receiver;
  const files: Readonly<Record<string, [status: number, type: string, body: Buffer]>> = {
    "/dot.png": [200, "image/png", png],
    "/download": [200, "application/pdf", pdf],
    "/page.png": [200, "text/html", Buffer.from("<html>")],
    "/moved.png": [302, "text/plain", Buffer.alloc(0)],
    "/gone.png": [404, "text/plain", Buffer.alloc(0)],
    "/large.png": [200, "image/png", Buffer.concat([png, Buffer.alloc(limit)])],
  };
  beforeAll(async () => {
    local = await startTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
    source = await startReceiver((request, response) => {
      const [status, type, body] = files[request.url ?? ""] ?? [500, "text/plain", Buffer.alloc(0)];
      response.writeHead(status, { "content-type": type, location: "/dot.png" }).end(body);
    });
  });
  afterAll(async () => {
    await source[Symbol.asyncDispose]();
    await local[Symbol.asyncDispose]();
  });
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
      data: Uploaded;
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

// Python's `requests` is one of the clients that send files this way.
test.each([
  ["photo.png", png, "image/png"],
  ["list.csv", Buffer.from("phone_number\n+14155550100"), "text/csv"],
])("a part without a content type gets it from its name and content: %s", async (name, bytes, type) => {
  const head = `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const answer = await app.fetch("/v1/uploads", {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=x" },
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n--x--\r\n")]),
  });
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ data: { file_name: name, content_type: type } });
});

describe("an invalid form", () => {
  const disposition = 'Content-Disposition: form-data; name="file"; filename="a.png"';
  test.each([
    ["without a boundary", "multipart/form-data", "--x--\r\n"],
    ["empty", "multipart/form-data; boundary=x", ""],
    ["without parts", "multipart/form-data; boundary=x", "--x--\r\n"],
    ["cut off", "multipart/form-data; boundary=x", `--x\r\n${disposition}\r\n\r\nabc`],
    ["with another format", "multipart/form-data; boundary=x", "{}"],
    [
      "with a field named __proto__",
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\n1\r\n--x--\r\n',
    ],
    [
      "with too many fields",
      "multipart/form-data; boundary=x",
      `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(100)}--x--\r\n`,
    ],
    [
      "with a file without a name",
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: image/png\r\n\r\nabc\r\n--x--\r\n',
    ],
  ])("is rejected: %s", async (_, type, body) => {
    const before = [await stored(), await rows()];
    const answer = await app.fetch("/v1/uploads", {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request" } });
    expect([400, 413, 415]).toContain(answer.status);
    expect([await stored(), await rows()]).toEqual(before);
    expect((await send(multipartForm({ bytes: png }))).status).toBe(201);
  });
});

test("a process that forwards requests forwards files of any size", async () => {
  const server = createProxy({ address: async () => app.address, bodyLimit: 1_000 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const answer = await fetch(`http://127.0.0.1:${port}/v1/uploads`, {
    method: "POST",
    headers: { "x-api-key": ownerKey },
    body: multipartForm({ bytes: Buffer.concat([png, Buffer.alloc(3_000_000)]) }),
  });
  expect(answer.status).toBe(201);
  server.closeAllConnections();
  server.close();
});
