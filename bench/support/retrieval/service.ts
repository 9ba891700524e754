/** A service with a knowledge base, and access to the search behind its operation. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../../src/app.ts";
import { type Client, createClient } from "../../../src/client/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import type { World } from "../../../src/platform/foundation/kernel/index.ts";
import { modules } from "../../../src/platform/index.ts";
import { runOnServer, withDatabase } from "../../../test/support/postgres.ts";
import { createWorldProbe } from "../../../test/support/world.ts";

export interface Knowledge {
  readonly engine: "embedded" | "postgres";
  readonly app: App;
  readonly world: World;
  readonly organization: string;
  readonly call: Client["call"];
}

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"k".repeat(43)}`;
const log = { debug() {}, info() {}, warn() {}, error() {} };

export async function withKnowledge(
  engine: Knowledge["engine"],
  run: (knowledge: Knowledge) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-retrieval-"));
  const name = `tidings_retrieval_${process.pid}`;
  if (engine === "postgres") {
    await runOnServer(server, `create database ${name}`);
  }
  const { config } = readConfig({
    ...(engine === "postgres" ? { DATABASE_URL: withDatabase(server, name) } : {}),
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_BOOTSTRAP_KEY: key,
    TIDINGS_ALLOW_LOCAL_SOURCES: "true",
    TIDINGS_RATE_LIMIT: "100000",
    TIDINGS_RATE_BURST: "200000",
  });
  const { probe, readWorld } = createWorldProbe();
  const app = await startApp({
    config,
    log,
    enabledModules: { ...modules, probe },
    listen: { host: "127.0.0.1", port: 0 },
  });
  const client = createClient({ baseUrl: async () => app.address, key });
  try {
    const world = await readWorld({
      fetch: (path: string) => fetch(app.address + path, { headers: { "x-api-key": key } }),
    });
    const { id: organization } = await app.database.queries
      .selectFrom("organizations")
      .select("id")
      .executeTakeFirstOrThrow();
    await run({ engine, app, world, organization, call: client.call });
  } finally {
    await client.close();
    await app[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true });
    if (engine === "postgres") {
      await runOnServer(server, `drop database ${name} with (force)`);
    }
  }
}
