/**
 * Requests during a failover: a read, and a request with an idempotency key, wait for the database and are
 * answered; a write without a key is not run again.
 *
 * @module-tag postgres
 */
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { createHold, NoConnectionError, type RequestHold } from "../src/database/outage/index.ts";
import { silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "./support/database-proxy.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { isPooled, runOnServer, serverUrl, withDatabase } from "./support/postgres.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.env.DATABASE_URL ?? "");
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(() => proxy.restore());

describe("a service", () => {
  let app: TestApp;

  beforeAll(async () => {
    const behindProxy = {
      env: { ...database.env, DATABASE_URL: proxy.url },
      async [Symbol.asyncDispose]() {},
    };
    app = await startTestApp({ database: behindProxy, env: { TIDINGS_DATABASE_WAIT: "30" } });
  });

  afterAll(() => app[Symbol.asyncDispose]());

  const create = (phone_number: string, headers: Record<string, string> = {}) =>
    app.fetch("/v1/contacts", { method: "POST", json: { phone_number }, headers });

  /** Runs `request` while connections are refused, and lets them in again once it has met that. */
  async function duringOutage(request: () => Promise<Response>): Promise<Response> {
    await proxy.refuse();
    return meanwhile(request(), async () => {
      expect((await app.fetch("/readyz")).status).toBe(503);
      await proxy.restore();
    });
  }

  test("holds a read until the database is back", async () => {
    const answer = await duringOutage(() => app.fetch("/v1/contacts"));
    expect(answer.status).toBe(200);
  });

  test("holds a write with a key, and runs it once", async () => {
    const key = { "idempotency-key": "held-1" };
    const answer = await duringOutage(() => create("+14155550181", key));
    expect(answer.status).toBe(201);
    const again = await create("+14155550181", key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await again.json()).toEqual(await answer.json());
  });

  test("finds the answer to a commit whose confirmation was lost", async () => {
    proxy.loseCommitOf("+14155550182");
    const answer = await create("+14155550182", { "idempotency-key": "held-2" });
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  });

  test.skipIf(isPooled)(
    "holds a write while the server is read-only, and leaves the connections of before",
    async () => {
      const name = new URL(database.env.DATABASE_URL ?? "").pathname.slice(1);
      const server = serverUrl ?? "";
      await runOnServer(server, `alter database ${name} set default_transaction_read_only = on`);
      await proxy.restore();
      await expect.poll(async () => (await create("+14155550183")).status).toBe(503);
      const held = await meanwhile(create("+14155550183", { "idempotency-key": "held-3" }), async () => {
        expect((await create("+14155550184")).status).toBe(503);
        await runOnServer(server, `alter database ${name} reset default_transaction_read_only`);
      });
      expect(held.status).toBe(201);
    },
  );
});

test("a service that is held after a restore answers 503 while the database is away", async () => {
  await using other = await createTestDatabase();
  await using between = await startDatabaseProxy(other.env.DATABASE_URL ?? "");
  const behindProxy = { env: { ...other.env, DATABASE_URL: between.url }, async [Symbol.asyncDispose]() {} };
  await runOnServer(
    other.env.DATABASE_URL ?? "",
    "insert into settings (name, value) values ('held_since_backup', '2026-06-01T00:00:00.000Z')",
  );
  await using app = await startTestApp({ database: behindProxy });
  await between.refuse();
  const answer = await app.fetch("/v1/contacts");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ error: { code: "unavailable" } });
  expect((await app.fetch("/drainz")).status).toBe(200);
});

describe("the places", () => {
  let opened: Database;
  let hold: RequestHold;

  beforeAll(async () => {
    opened = await openDatabase({ url: proxy.url, dataDir: "", log: silentLog });
    hold = createHold(opened, 30_000);
  });

  afterAll(() => opened[Symbol.asyncDispose]());

  /** Work of an owner that fails while the database is away. */
  function send(owner: string, size = 1) {
    let runs = 0;
    return hold
      .run({ owner, size: () => size }, async () => {
        runs += 1;
        if (runs === 1) {
          throw new NoConnectionError(new Error("refused"));
        }
        return "done";
      })
      .catch(() => "failed");
  }

  const count = (outcomes: readonly string[]) => outcomes.filter((outcome) => outcome === "done").length;

  test("are 500, of which an owner with few gets some of those of an owner with many", async () => {
    await proxy.refuse();
    const many = Promise.all(Array.from({ length: 510 }, () => send("many")));
    const few = Promise.all(Array.from({ length: 20 }, () => send("few")));
    const outcomes = await meanwhile(Promise.all([many, few]), () => proxy.restore());
    expect(outcomes.map(count)).toEqual([480, 20]);
  });

  test("are limited by size too", async () => {
    await proxy.refuse();
    const size = 10 * 1024 * 1024;
    const large = Promise.all(["one", "two", "three", "four"].map((owner) => send(owner, size)));
    expect(await meanwhile(large, () => proxy.restore())).toEqual(["done", "done", "done", "failed"]);
  });
});

describe("several hosts", () => {
  const open = (url: string) => openDatabase({ url, dataDir: "", log: silentLog, poolSize: 2 });
  const local = () => new URL(database.env.DATABASE_URL ?? "");
  const hosts = (...list: string[]) => local().href.replace(local().host, list.join(","));

  test("the first that accepts connections is used, and the next when it stops", async () => {
    const { host } = new URL(proxy.url);
    await using opened = await open(hosts("127.0.0.1:1", host, local().host));
    const read = () => sql`select 1 as one`.execute(opened.queries);
    expect((await read()).rows).toEqual([{ one: 1 }]);
    await proxy.refuse();
    await expect.poll(() => read().then(({ rows }) => rows, String)).toEqual([{ one: 1 }]);
  });

  test.skipIf(isPooled)("a read-only server is not used, unless any may be", async () => {
    const name = local().pathname.slice(1);
    const server = serverUrl ?? "";
    await runOnServer(server, `alter database ${name} set default_transaction_read_only = on`);
    try {
      const url = hosts(local().host, local().host);
      await expect(open(url)).rejects.toThrow(/can't be used\. The server is a standby, or it is read-only/);
      await using opened = await open(`${url}?target_session_attrs=any`);
      expect((await sql`select 1 as one`.execute(opened.queries)).rows).toEqual([{ one: 1 }]);
      await expect(open(`${local().href}?target_session_attrs=primary`)).rejects.toThrow("standby");
    } finally {
      await runOnServer(server, `alter database ${name} reset default_transaction_read_only`);
    }
  });

  test("a standby alone is no server for the service", async () => {
    await expect(
      open(`${withDatabase(serverUrl ?? "", "any")}?target_session_attrs=standby`),
    ).rejects.toThrow("set target_session_attrs=read-write in place of standby");
  });
});
