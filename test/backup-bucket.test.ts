/** Backups in a bucket: written in parts, continued after a failure, checked and restored from there. */
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLargeObject, type UploadState } from "../src/adapters/storage/index.ts";
import { collectBytes } from "../src/streams/bytes.ts";
import { contacts } from "../tools/contacts.ts";
import { startTestApp } from "./support/app.ts";
import { createFolder, createTarget } from "./support/backups.ts";
import { type Bucket, openBucket } from "./support/bucket.ts";
import { runCommand } from "./support/command.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { startUpstream } from "./support/scripted-service.ts";

type Settings = Readonly<Record<string, string>>;

let bucket: Bucket;
let folder: Awaited<ReturnType<typeof createFolder>>;

beforeAll(async () => {
  bucket = await openBucket();
  folder = await createFolder();
});

afterAll(async () => {
  await bucket[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe("a large object", () => {
  const mebibyte = 1024 * 1024;
  const accessTo = (endpoint: string | undefined) => {
    return { endpoint, region: "us-east-1", accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  };

  test("is uploaded in parts, and later with those alone that are missing", async () => {
    const path = join(folder.path, "large");
    await using file = await open(path, "w");
    await file.write("begin");
    await file.write("end", 40 * mebibyte);
    const { TIDINGS_S3_ENDPOINT: endpoint } = bucket.env;
    const object = createLargeObject(accessTo(endpoint), { bucket: "files", key: "large" });
    let saved: UploadState | undefined;
    const interrupted = object.upload(path, undefined, async (state) => {
      saved = state;
      if (state.etags.length === 2) {
        throw new Error("The process was killed.");
      }
    });
    await expect(interrupted).rejects.toThrow("The process was killed.");
    expect(await object.readSize()).toBeUndefined();
    expect(await object.upload(path, saved, async () => undefined)).toEqual({ sent: 1, kept: 2 });
    const size = 40 * mebibyte + 3;
    expect(await object.readSize()).toBe(size);
    const { bytes } = await collectBytes(object.read(), size);
    expect(bytes.equals(await readFile(path))).toBe(true);
  });

  test("is uploaded from the beginning if the store has forgotten the upload", async () => {
    const path = join(folder.path, "small");
    await writeFile(path, "content");
    await using store = await startUpstream([
      { status: 404 },
      { body: "<InitiateMultipartUploadResult><UploadId>new</UploadId></InitiateMultipartUploadResult>" },
      { headers: { etag: '"one"' } },
      { body: "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>" },
    ]);
    const object = createLargeObject(accessTo(store.url), { bucket: "files", key: "small" });
    const forgotten = { upload_id: "old", part_bytes: 16 * mebibyte, etags: [] };
    expect(await object.upload(path, forgotten, async () => undefined)).toEqual({ sent: 1, kept: 0 });
    expect(store.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /files/small?partNumber=1&uploadId=old",
      "POST /files/small?uploads=",
      "PUT /files/small?partNumber=1&uploadId=new",
      "POST /files/small?uploadId=new",
    ]);
  });

  test("is read on after the connection was lost", async () => {
    const bytes = Buffer.from("0123456789");
    await using store = await startUpstream([
      // The connection ends before the content does.
      { headers: { "content-length": "10", connection: "close" }, body: bytes.subarray(0, 4) },
      { status: 206, body: bytes.subarray(4) },
    ]);
    const object = createLargeObject(accessTo(store.url), { bucket: "files", key: "object" });
    expect((await collectBytes(object.read(), 100)).bytes).toEqual(bytes);
    expect(store.requests.map(({ headers }) => headers.range)).toEqual([undefined, "bytes=4-"]);
  });
});

describe("a backup", { timeout: 120_000 }, () => {
  let source: TestDatabase;
  let recipient: string;
  let identity: string;
  const access = () => {
    const { TIDINGS_S3_BUCKET: _, ...settings } = bucket.env;
    return settings;
  };
  const run = ([command = "", address = ""]: readonly string[], env: Settings = access()) => {
    const key = command === "backup" ? ["--recipient", recipient] : ["--identity", identity];
    return runCommand([command, address, ...key, "--json"], { ...source.env, ...env });
  };

  beforeAll(async () => {
    source = await createTestDatabase();
    await (await startTestApp({ database: source }))[Symbol.asyncDispose]();
    const secret = await generateIdentity();
    recipient = await identityToRecipient(secret);
    identity = join(folder.path, "identity");
    await writeFile(identity, secret);
  }, 120_000);

  afterAll(() => source[Symbol.asyncDispose]());

  test("is written to a bucket, checked and restored from there, and not overwritten", async () => {
    const address = "s3://files/backups/monday.age";
    const written = await run(["backup", address]);
    expect(written).toMatchObject({ status: 0, stderr: "" });
    const report = JSON.parse(written.stdout);
    expect(report).toMatchObject({ file: address, encrypted: true, parts_sent: 1, parts_kept: 0 });
    expect(await readdir(join(source.env.TIDINGS_DATA_DIR ?? "", "backups"))).toEqual([]);

    const verified = await run(["verify-backup", address]);
    expect(verified).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(verified.stdout)).toMatchObject({ file: address, rows: report.rows, problems: [] });

    expect(await run(["backup", address])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`${address} exists already. Name another key`),
    });

    await using target = await createTarget();
    const restored = await run(["restore", address], { ...target.env, ...access() });
    expect(restored).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(restored.stdout)).toMatchObject({ rows: report.rows });
  });

  test("that the bucket refused is uploaded by the next run, as it was made", async () => {
    const address = "s3://files/tuesday.age";
    await using refusing = await startUpstream([{ status: 404 }, { status: 403 }]);
    const failed = await run(["backup", address], { ...access(), TIDINGS_S3_ENDPOINT: refusing.url });
    expect(failed).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /not yet in the bucket: the store answered 403 to POST\. Run the same command/,
      ),
    });
    expect(refusing.requests.map(({ method }) => method)).toEqual(["HEAD", "POST"]);
    const app = await startTestApp({ database: source });
    await app.call(contacts.create_contact, { phone_number: "+14155550123" });
    await app[Symbol.asyncDispose]();

    const written = await run(["backup", address]);
    expect(written).toMatchObject({ status: 0, stderr: "" });
    const { rows, parts_sent } = JSON.parse(written.stdout);
    expect(parts_sent).toBe(1);
    const monday = await run(["verify-backup", "s3://files/backups/monday.age"]);
    expect(rows).toBe(JSON.parse(monday.stdout).rows);
    expect(JSON.parse((await run(["verify-backup", address])).stdout)).toMatchObject({ rows, problems: [] });
  });

  test.each([
    ["s3://files", "is no address of a backup. Write s3://bucket/key"],
    ["s3://files/../secret", "is no address of a backup. Write s3://bucket/key"],
    ["s3://files/none.age", "There is no backup at s3://files/none.age."],
  ])("at %s is refused", async (address, message) => {
    expect(await run(["verify-backup", address])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test("in a bucket needs the keys of the bucket", async () => {
    expect(await run(["backup", "s3://files/new.age"], {})).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Set TIDINGS_S3_ACCESS_KEY_ID and TIDINGS_S3_SECRET_ACCESS_KEY"),
    });
  });
});
