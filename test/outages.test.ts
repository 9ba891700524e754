/**
 * Outages of the database: a request is answered with 503 in a limited time, one line a second is logged, and
 * the service goes on by itself when the database is back.
 *
 * @module-tag postgres
 */

import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import { isOutage, NoAnswerError, NoConnectionError } from "../src/database/outage/index.ts";
import { coalesce } from "../src/database/sharing/coalesce.ts";
import { contacts } from "../tools/contacts.ts";
import { silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "./support/database-proxy.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { isPooled, runOnServer, serverUrl } from "./support/postgres.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: TestApp;
const logged: object[] = [];
const log = {
  ...silentLog,
  error: (facts: object, message: string) => void logged.push({ message, ...facts }),
};

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.env.DATABASE_URL ?? "");
  const behindProxy = { env: { ...database.env, DATABASE_URL: proxy.url }, async [Symbol.asyncDispose]() {} };
  app = await startTestApp({ database: behindProxy, log, env: { TIDINGS_DATABASE_WAIT: "0" } });
});

afterAll(async () => {
  await proxy.restore();
  await app[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(async () => {
  vi.useRealTimers();
  await recover();
  logged.length = 0;
});

const list = () => app.fetch("/v1/contacts");
const create = (number: string) =>
  app.fetch("/v1/contacts", { method: "POST", json: { phone_number: number } });

/** A connection that has just been lost may still be given to the next requests. */
async function recover(): Promise<void> {
  await proxy.restore();
  await expect.poll(async () => (await list()).status).toBe(200);
}

async function expectUnavailable(response: Response): Promise<void> {
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await response.json()).toMatchObject({ error: { code: "unavailable" } });
}

describe("a database", () => {
  test("that refuses connections: 503, not ready, one line for many requests; then it goes on", async () => {
    await proxy.refuse();
    // The second line would follow after a second.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const responses = await Promise.all(Array.from({ length: 20 }, list));
    for (const response of responses) {
      await expectUnavailable(response);
    }
    expect((await app.fetch("/readyz")).status).toBe(503);
    expect((await app.fetch("/drainz")).status).toBe(200);
    expect((await app.fetch("/healthz")).status).toBe(200);
    expect(logged).toEqual([
      {
        message: "Requests were answered with 503",
        count: 1,
        error: expect.stringContaining("ECONNREFUSED"),
      },
    ]);
    vi.useRealTimers();
    await recover();
    expect((await app.fetch("/readyz")).status).toBe(200);
  });

  test("that is silent: 503 when the time of a statement is over", async () => {
    expect((await list()).status).toBe(200);
    proxy.silence();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const response = await meanwhile(list(), async () => {
      await vi.waitFor(() => expect(app.server.database.pool().inUse).toBeGreaterThan(0));
      await vi.advanceTimersByTimeAsync(18_000);
    });
    vi.useRealTimers();
    await expectUnavailable(response);
  });

  test("that is silent: not ready after the age at which a heartbeat is too old", async () => {
    expect((await app.fetch("/readyz")).status).toBe(200);
    proxy.silence();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const response = await meanwhile(app.fetch("/readyz"), async () => {
      await vi.waitFor(() => expect(app.server.database.pool().inUse).toBeGreaterThan(0));
      await vi.advanceTimersByTimeAsync(3_500);
    });
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    await expectUnavailable(response);
  });

  test.skipIf(isPooled)("that is read-only: writes answer 503, and reads go on", async () => {
    const name = new URL(database.env.DATABASE_URL ?? "").pathname.slice(1);
    const server = serverUrl ?? "";
    await runOnServer(server, `alter database ${name} set default_transaction_read_only = on`);
    await recover();
    await expectUnavailable(await create("+14155550171"));
    expect((await list()).status).toBe(200);
    await runOnServer(server, `alter database ${name} reset default_transaction_read_only`);
    await recover();
    expect((await create("+14155550171")).status).toBe(201);
    expect((await app.call(contacts.list_contacts, {})).data).toHaveLength(1);
  });

  test.skipIf(isPooled)("that rejects the service after its start: 503", async () => {
    const name = new URL(database.env.DATABASE_URL ?? "").pathname.slice(1);
    const server = serverUrl ?? "";
    await runOnServer(server, `alter database ${name} allow_connections false`);
    await proxy.restore();
    await expect.poll(async () => (await list()).status).toBe(503);
    await expectUnavailable(await list());
    await expectUnavailable(await create("+14155550172"));
    await runOnServer(server, `alter database ${name} allow_connections true`);
  });

  test("that does not exist is not waited for at the start", async () => {
    const url = `${serverUrl}_without_this`;
    await expect(openDatabase({ url, dataDir: "", log: silentLog, waitMs: 20_000 })).rejects.toThrow(
      "The database does not exist",
    );
  });

  test.skipIf(isPooled).each([
    ["first statement", "pg_backend_pid", 3_000],
    ["first statement on a connection of the pool", "plan_cache_mode", 10_000],
  ])("that freezes at the %s is given up at the time limit", async (_, text, limitMs) => {
    await using other = await startDatabaseProxy(database.env.DATABASE_URL ?? "");
    const silent = other.silenceAt(text);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const opened = openDatabase({ url: other.url, dataDir: "", log: silentLog });
    opened.catch(() => undefined); // awaited below
    await silent;
    await vi.advanceTimersByTimeAsync(limitMs);
    vi.useRealTimers();
    const error = await opened.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(/can't be used/);
    expect(isOutage(error?.cause)).toBe(true);
  });

  test("that refuses at the start is waited for", async () => {
    await proxy.refuse();
    const warnings: string[] = [];
    const waiting = {
      ...silentLog,
      warn: (_: object, message: string) => void warnings.push(message),
    };
    const opened = await meanwhile(
      openDatabase({ url: proxy.url, dataDir: "", log: waiting, waitMs: 20_000 }),
      async () => {
        await expect.poll(() => warnings).toHaveLength(1);
        await proxy.restore();
      },
    );
    await opened[Symbol.asyncDispose]();
    expect(warnings[0]).toMatch(/The connection was refused.* Waiting for it\.$/);
  });
});

test("work that waits for a batch without an answer fails with it, and does not wait as long again", async () => {
  let batches = 0;
  let fail: (error: Error) => void = () => undefined;
  const run = coalesce((_: object, _items: readonly string[]) => {
    batches += 1;
    return new Promise<readonly string[]>((_resolve, reject) => {
      fail = reject;
    });
  });
  const scope = {};
  const first = run(scope, "first");
  first.catch(() => undefined);
  await vi.waitFor(() => expect(batches).toBe(1));
  const second = run(scope, "second");
  fail(new NoAnswerError());
  expect(await Promise.allSettled([first, second])).toMatchObject([
    { reason: { name: "NoAnswerError" } },
    { reason: { name: "NoAnswerError" } },
  ]);
  expect(batches).toBe(1);
});

describe("an outage is", () => {
  const withState = (code: string) => Object.assign(new pg.DatabaseError("failed", 0, "error"), { code });

  test.each(["08006", "53100", "53300", "57P01", "57P03", "57014", "25006", "25P03", "58030"])(
    "the state %s",
    (code) => {
      expect(isOutage(withState(code))).toBe(true);
    },
  );

  test.each(["23505", "42P01", "22P02", "40001"])("not the state %s", (code) => {
    expect(isOutage(withState(code))).toBe(false);
  });

  test("a statement without an answer, and a connection that is lost", () => {
    expect(isOutage(new NoAnswerError())).toBe(true);
    expect(isOutage(new NoConnectionError(withState("28P01")))).toBe(true);
    expect(isOutage(new Error("Connection terminated unexpectedly"))).toBe(true);
    expect(isOutage(Object.assign(new Error("connect"), { code: "ECONNREFUSED" }))).toBe(true);
    expect(isOutage(new Error("A handler is wrong."))).toBe(false);
  });
});
