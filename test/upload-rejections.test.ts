/** Rejected and interrupted uploads: the error of each, and that nothing stays stored. */
import { once } from "node:events";
import { mkdir, mkdtemp, open, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createDiskStorage } from "../src/adapters/storage/disk.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { compoundFile, executable, gif, jpeg, multipartForm, pdf, png, zip } from "./support/files.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { createUploadHelpers, maxFileBytes } from "./support/uploads.ts";

const app = useTestApp();
const { send, listFiles, listRows } = createUploadHelpers(app);

describe("a rejected file is not stored", () => {
  const html = Buffer.from("<!DOCTYPE html><html><script>alert(1)</script></html>");
  const php = Buffer.from("<?php system($_GET['c']); ?>");
  const withText = (file: Buffer, text: string) => Buffer.concat([file, Buffer.from(text, "latin1")]);
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
    ["GIF and PHP with a short tag", "a.gif", "image/gif", withText(gif, "<?=`$_GET[0]`"), "file_unsafe"],
    ["PNG and PHP in a short tag", "a.png", "", withText(png, "<?=`id`?>"), "file_unsafe"],
    ["PHP called text", "a.txt", "", Buffer.from("<?=`$_GET[0]`"), "file_unsafe"],
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
    ...[
      "/S/#4aava#53cript/#4AS 5 0 R",
      "/#4A#61#76#61#53#63#72#69#70#74",
      "/S /Rendition /JS (app.alert(1))",
      "/JS(x)/A(\u0001)",
      "/J#53<6170702E616C>",
      `/JS${" ".repeat(200)}5 0 R`,
      "/JS %\n(x)",
      "/JS(\xfe\xff\0x",
      "/S/L#61unch/F(a.exe)",
    ].map((text): (typeof rejected)[number] => [
      `PDF with ${JSON.stringify(text)}`,
      "a.pdf",
      "",
      withText(pdf, text),
      "file_unsafe",
    ]),
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
    const before = [await listFiles(), await listRows()];
    const { status, error } = await send(multipartForm({ name, type, bytes }));
    expect([status, error.code]).toEqual([code === "file_empty" ? 400 : 415, code]);
    expect([await listFiles(), await listRows()]).toEqual(before);
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

  test("an escaped name across two chunks is detected", async () => {
    const text = "/#4A#61#76#61#53#63#72#69#70#74";
    for (const at of [65_510, 65_530, 65_536]) {
      const bytes = Buffer.concat([
        pdf,
        Buffer.alloc(at - pdf.length, 7),
        Buffer.from(text),
        Buffer.alloc(9000),
      ]);
      expect((await send(multipartForm({ name: "a.pdf", bytes }))).error.code).toBe("file_unsafe");
    }
  });

  test("what resembles a script in binary data is accepted", async () => {
    const likeTag = Buffer.from("<?=\x80abcdefghijk<?=abc\0def?><?=12345678\xff", "latin1");
    const likeName = Buffer.from("/JS\0\0/JS(ab\x01cd)/JSON(x)/JS<abc\x99/J#53S(x)/Javascript/#4c", "latin1");
    const files = {
      "a.png": Buffer.concat([png, likeTag]),
      "a.pdf": Buffer.concat([pdf, likeTag, likeName]),
    };
    for (const [name, bytes] of Object.entries(files)) {
      expect((await send(multipartForm({ name, bytes }))).status).toBe(201);
    }
  });

  test("32 MB are accepted and one byte more is not", async () => {
    const bytes = Buffer.concat([png, Buffer.alloc(maxFileBytes - png.length + 1)]);
    const before = (await listFiles()).length;
    const whole = await send(multipartForm({ bytes: bytes.subarray(0, maxFileBytes) }));
    expect([whole.status, whole.data.file_size]).toEqual([201, maxFileBytes]);
    const over = await send(multipartForm({ bytes }));
    expect([over.status, over.error.code]).toEqual([413, "file_too_large"]);
    expect((await listFiles()).length).toBe(before + 1);
  });

  test("far more than 32 MB is rejected before it is read", async () => {
    const { status } = await send(multipartForm({ bytes: Buffer.alloc(maxFileBytes + 200_000) }));
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
    const before = [await listFiles(), await listRows()];
    const data = multipartForm({ bytes: png });
    change(data);
    const { status, error } = await send(data);
    expect([status, error.code]).toEqual([400, code]);
    expect([await listFiles(), await listRows()]).toEqual(before);
  });

  test("an aborted upload", async () => {
    const before = [await listFiles(), await listRows()];
    for (const share of [0.2, 0.9]) {
      await abortUpload(2_000_000, share);
      await expect.poll(async () => [await listFiles(), await listRows()]).toEqual(before);
    }
  });

  test("the row and file of an upload interrupted by a crash are deleted after an hour", async () => {
    const { data } = await send(multipartForm({ bytes: png }));
    await app.server.database.queries
      .updateTable("uploads")
      .set({ status: "arriving" })
      .where("id", "=", data.id)
      .execute();
    const before = (await listFiles()).length;
    await app.advanceTime(3 * 3_600_000);
    expect((await listRows()).map(({ id }) => id)).not.toContain(data.id);
    expect((await listFiles()).length).toBe(before - 1);
  });
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
    const before = [await listFiles(), await listRows()];
    const answer = await app.fetch("/v1/uploads", {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request" } });
    expect(answer.status).toBe(400);
    expect([await listFiles(), await listRows()]).toEqual(before);
    expect((await send(multipartForm({ bytes: png }))).status).toBe(201);
  });
});

test("an unfinished file that can't be deleted does not keep the others, and is deleted later", async () => {
  const files = await listFiles();
  const { data: first } = await send(multipartForm({ bytes: png }));
  const [path = ""] = (await listFiles()).filter((file) => !files.includes(file));
  const { data: second } = await send(multipartForm({ bytes: png }));
  const ids = [first.id, second.id];
  await app.server.database.queries
    .updateTable("uploads")
    .set({ status: "arriving" })
    .where("id", "in", ids)
    .execute();
  const listLeft = async () => (await listRows()).map(({ id }) => id).filter((id) => ids.includes(id));
  // The disk storage can't delete a folder.
  await rm(path);
  await mkdir(path);
  await app.advanceTime(3 * 3_600_000);
  expect(await listLeft()).toEqual([first.id]);
  await rmdir(path);
  await app.advanceTime(3_600_000);
  expect(await listLeft()).toEqual([]);
});

test("a file that the disk fails to write is not stored", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidings-store-"));
  const storage = createDiskStorage(folder);
  const body = async function* () {
    yield png;
  };
  const handle = await open(join(folder, "other"), "w");
  const datasync = vi
    .spyOn(Object.getPrototypeOf(handle), "datasync")
    .mockRejectedValueOnce(new Error("EIO"));
  try {
    const writing = storage.write("org_a/lost", body(), { contentType: "image/png", disposition: "inline" });
    await expect(writing).rejects.toThrow("EIO");
    expect(await storage.read("org_a/lost")).toBeUndefined();
    expect(await readdir(join(folder, "arriving"))).toEqual([]);
  } finally {
    datasync.mockRestore();
    await handle.close();
    await rm(folder, { recursive: true });
  }
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

/** Sends a share of a form, and ends the connection once a part of the file is stored. */
async function abortUpload(length: number, share: number): Promise<void> {
  const head = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), png, Buffer.alloc(length)]);
  const headers = {
    "x-api-key": ownerKey,
    "content-type": "multipart/form-data; boundary=x",
    "content-length": body.length,
  };
  const before = (await listFiles()).length;
  const sent = request(`${app.address}/v1/uploads`, { method: "POST", headers });
  await meanwhile(once(sent, "error"), async () => {
    sent.write(body.subarray(0, Math.floor(body.length * share)));
    await expect.poll(async () => (await listFiles()).length).toBe(before + 1);
    sent.destroy(new Error("gone"));
  });
}
