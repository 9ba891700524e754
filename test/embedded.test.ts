/**
 * The connection to the embedded engine, and what happens when it breaks.
 *
 * @module-tag embedded
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { protocol } from "@electric-sql/pglite";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type EmbeddedEngine, startEmbedded } from "../src/database/embedded/index.ts";
import type { PortStream } from "../src/database/embedded/port-stream.ts";
import { bundleProgram } from "./support/bundle.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { meanwhile } from "./support/meanwhile.ts";

let fresh: TestDatabase;
let engine: EmbeddedEngine;
let client: pg.Client;

beforeAll(async () => {
  fresh = await createTestDatabase();
  engine = await startEmbedded({ dataDir: folderOf(fresh), ownership: undefined, onFailure() {} });
});

beforeEach(async () => {
  client = await connect();
  await client.query("drop table if exists notes");
  await client.query("create table notes (id integer primary key, text text)");
});

afterEach(() => client.end());

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
});

function folderOf({ env }: TestDatabase): string {
  return env.TIDINGS_DATA_DIR ?? "";
}

async function connect(config: pg.ClientConfig = {}, { settings } = engine): Promise<pg.Client> {
  const created = new pg.Client({ ...settings, pipeline: true, ...config });
  created.on("error", () => undefined);
  await created.connect();
  return created;
}

/** Ends the connection without a Terminate message, as a failure does. */
function breakConnection(broken: pg.Client): Promise<void> {
  // The types of `pg` do not declare the stream.
  const { connection } = broken as unknown as { connection: { stream: Duplex } };
  const closed = new Promise<void>((resolve) => broken.once("end", resolve));
  connection.stream.destroy();
  return closed;
}

const insert = (id: number, text: string) => ({
  name: "insert",
  text: "insert into notes values ($1, $2)",
  values: [id, text],
});
const count = async (from = client) => (await from.query("select count(*)::int as n from notes")).rows[0].n;

test("500 named statements that are sent at once are answered in order", async () => {
  const inserted = Array.from({ length: 500 }, (_, id) => client.query(insert(id, `text ${id}`)));
  const selected = Array.from({ length: 500 }, (_, id) =>
    client.query({ name: "select", text: "select text from notes where id = $1", values: [id] }),
  );
  const [, results] = await Promise.all([Promise.all(inserted), Promise.all(selected)]);
  const texts = results.map(({ rows }) => rows[0].text);
  expect(texts).toEqual(Array.from({ length: 500 }, (_, id) => `text ${id}`));
});

test("after a failed statement a transaction that was sent at once is rolled back", async () => {
  const results = await Promise.allSettled([
    client.query("begin"),
    client.query(insert(1, "a")),
    client.query(insert(1, "b")),
    client.query(insert(2, "c")),
    client.query("commit"),
    client.query(insert(3, "d")),
  ]);
  expect(
    results.map((result) => (result.status === "fulfilled" ? result.value.command : result.reason.code)),
  ).toEqual(["BEGIN", "INSERT", "23505", "25P02", "ROLLBACK", "INSERT"]);
  expect(await count()).toBe(1);
});

test("a failed statement outside a transaction does not affect those sent with it", async () => {
  const results = await Promise.allSettled([
    client.query(insert(1, "a")),
    client.query("select missing"),
    client.query({ name: "bad", text: "select $1::integer", values: ["x"] }),
    client.query(insert(2, "b")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  expect(await count()).toBe(2);
});

test("parameters of 5 MB and results of 10 MB pass", async () => {
  const text = "ä".repeat(2_500_000);
  await Promise.all([client.query(insert(1, text)), client.query(insert(2, text))]);
  const { rows } = await client.query("select text from notes order by id");
  expect(rows.map((row) => row.text === text)).toEqual([true, true]);
});

test("messages may be split at any byte, and several may come together", async () => {
  await client.end();
  const { serialize } = protocol;
  const startup = serialize.startup({ user: "postgres", database: "postgres" });
  const statements = Buffer.concat([
    serialize.parse({ text: "select $1::text || length($1)" }),
    serialize.bind({ values: ["Grüße"] }),
    serialize.execute({}),
    serialize.sync(),
    serialize.query("select missing"),
    serialize.query("select 'last'"),
  ]);
  const together = await exchange([Buffer.concat([startup, statements])]);
  expect(together).toMatch(/Grüße5.*column "missing" does not exist.*last/s);
  const bytes = Array.from(Buffer.concat([startup, statements]), (byte) => Buffer.of(byte));
  expect(await exchange(bytes)).toBe(together);
});

test("a request for TLS ends the connection", async () => {
  await client.end();
  await expect(connect({ ssl: true })).rejects.toThrow("Connection terminated unexpectedly");
});

test("an open transaction, settings and prepared statements of a broken connection are not inherited", async () => {
  await Promise.all([client.query("set work_mem = '1MB'"), client.query(insert(1, "a"))]);
  await Promise.all([client.query("begin"), client.query(insert(2, "b"))]);
  await breakConnection(client);
  client = await connect();

  const { rows } = await client.query("show work_mem");
  expect(rows).toEqual([{ work_mem: "4MB" }]);
  expect(await count()).toBe(1);
  await client.query(insert(3, "c"));
});

test("a connection that breaks in a failed transaction is replaced", async () => {
  await Promise.allSettled([client.query("begin"), client.query("select missing")]);
  await breakConnection(client);
  client = await connect();
  await client.query(insert(1, "a"));
  expect(await count()).toBe(1);
});

test("a second connection waits until the first has ended", async () => {
  await client.query("begin");
  await client.query(insert(1, "a"));
  client = await meanwhile(connect(), async () => {
    await client.query("commit");
    await client.end();
  });
  expect(await count()).toBe(1);
});

test("when the engine crashes, its thread ends, running and later statements fail, and onFailure is called", async () => {
  await using copy = await createTestDatabase();
  const onFailure = vi.fn();
  await using broken = await startEmbedded({ dataDir: folderOf(copy), ownership: undefined, onFailure });
  const victim = await connect({}, broken);
  await rm(join(folderOf(copy), "database", "pg_wal"), { recursive: true });
  const results = await Promise.allSettled([
    victim.query("create table big as select repeat('x', 1000) from generate_series(1, 50000)"),
    victim.query("select 1"),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect.poll(() => onFailure).toHaveBeenCalledOnce();
  expect(onFailure).toHaveBeenCalledWith(new Error("The embedded database stopped: The engine crashed."));
  await expect(connect({}, broken)).rejects.toThrow("The embedded database stopped");
});

test("of three processes that open a folder at once one succeeds, and when it is killed the folder can be opened", async () => {
  await using copy = await createTestDatabase();
  await using holder = await bundleProgram("test/support/engine-holder.ts");
  const processes = [1, 2, 3].map(() => fork(holder.path, [folderOf(copy)]));
  const answers = await Promise.all(
    processes.map(async (child) => String((await once(child, "message"))[0])),
  );
  const inUse = expect.stringContaining("is already in use");
  expect(answers.toSorted()).toEqual([inUse, inUse, "open"]);

  const exits = Promise.all(processes.map((child) => child.exitCode === null && once(child, "exit")));
  for (const child of processes) {
    child.kill("SIGKILL");
  }
  await meanwhile(exits, async () => {
    await using reopened = await startEmbedded({
      dataDir: folderOf(copy),
      ownership: undefined,
      onFailure() {},
    });
    const reader = await connect({}, reopened);
    expect((await reader.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

test("an engine whose folder another process has taken over is stopped", async () => {
  await using copy = await createTestDatabase();
  const onFailure = vi.fn();
  await using stalled = await startEmbedded({ dataDir: folderOf(copy), ownership: undefined, onFailure });
  const files = (await readdir(folderOf(copy))).filter((name) => name.startsWith("owner."));
  const [own = ""] = files;
  const record = JSON.parse(await readFile(join(folderOf(copy), own), "utf8"));
  const next = `owner.${Number(own.slice("owner.".length)) + 1}`;
  await writeFile(join(folderOf(copy), next), JSON.stringify({ ...record, nonce: "the new owner's" }));
  await expect.poll(() => onFailure).toHaveBeenCalledOnce();
  await expect(connect({}, stalled)).rejects.toThrow("The embedded database stopped");
});

/** Writes the parts to a new connection, one by one, and returns what it answers. */
async function exchange(parts: readonly Buffer[]): Promise<string> {
  const stream = engine.settings.stream?.() as PortStream; // as startEmbedded makes it
  stream.connect();
  for (const part of parts) {
    stream.write(part);
  }
  stream.end(protocol.serialize.end());
  const answer = await stream.toArray();
  return Buffer.concat(answer).toString();
}
