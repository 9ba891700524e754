/** Uploads: accepted types and sources, idempotency, tenancy, lists and deletion. */
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProxy } from "../src/cli/serve/proxy/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import {
  compoundFile,
  csv,
  docx,
  gif,
  jpeg,
  mov,
  mp3,
  mp4,
  multipartForm,
  ogg,
  pdf,
  png,
  wav,
  webm,
} from "./support/files.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createUploadHelpers } from "./support/uploads.ts";

const cdn = "https://cdn.example.com/files";
const app = useTestApp({ env: { TIDINGS_CDN_URL: `${cdn}/` } });
const { send, upload, listFiles, listRows } = createUploadHelpers(app);

describe("an accepted file", () => {
  const accepted: readonly [name: string, type: string, bytes: Buffer, storedType: string][] = [
    ["photo.png", "image/png", png, "image/png"],
    ["PHOTO.JPG", "image/jpeg", jpeg, "image/jpeg"],
    ["anim.gif", "", gif, "image/gif"],
    ["film.mp4", "video/mp4", mp4, "video/mp4"],
    ["clip.MOV", "video/quicktime", mov, "video/quicktime"],
    ["clip.webm", "video/webm", webm, "video/webm"],
    ["recording.webm", "audio/webm; codecs=opus", webm, "video/webm"],
    ["recording.weba", "audio/webm", webm, "audio/webm"],
    ["memo.wav", "audio/x-wav", wav, "audio/wav"],
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
    const outside = (await listFiles()).filter((path) => !path.startsWith(join(app.dataDir, "files")));
    expect(outside).toEqual([]);
    expect(await listRows()).not.toContainEqual(
      expect.objectContaining({ key: expect.stringContaining("png") }),
    );
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

describe("under an idempotency key", () => {
  test("the same file is one upload, and another file is rejected", async () => {
    const headers = { "idempotency-key": "once" };
    const before = (await listFiles()).length;
    const first = await send(multipartForm({ bytes: png }), { headers });
    const again = await send(multipartForm({ bytes: png }), { headers });
    expect(again.data).toEqual(first.data);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const other = await send(multipartForm({ name: "a.gif", bytes: gif }), { headers });
    expect([other.status, other.error.code]).toEqual([422, "idempotency_key_reused"]);
    expect((await listFiles()).length).toBe(before + 1);
  });

  test("two concurrent requests are one upload", async () => {
    const headers = { "idempotency-key": "concurrent" };
    const before = (await listFiles()).length;
    const answers = await Promise.all([1, 2].map(() => send(multipartForm({ bytes: png }), { headers })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
    expect((await listFiles()).length).toBe(before + 1);
  });
});

test("a key without the scope can't upload", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "reader", scopes: ["contacts:read"] });
  const before = await listRows();
  const { status, error } = await send(multipartForm({ bytes: png }), { key: data.secret_key });
  expect([status, error.code]).toEqual([403, "insufficient_scope"]);
  expect(await listRows()).toEqual(before);
});

test("another tenant's upload is stored under its organization", async () => {
  const other = await createOtherTenant(app);
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
  const before = await listFiles();
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
  expect(await listFiles()).toEqual(before);
});

test("a process that forwards requests forwards files of any size", async () => {
  const server = createProxy({
    address: async () => app.address,
    bodyLimit: 1_000,
    stopping: new AbortController().signal,
  });
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
