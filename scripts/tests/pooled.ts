/**
 * Runs tests on PostgreSQL behind PgBouncer in transaction mode, with few connections to the server: the
 * files that are named, by default those of the database and of what works in many processes.
 *
 * PGBOUNCER is the program; by default Debian's. Without one it says so, and ends without an error.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { pgBouncer, startPgBouncer, throughPgBouncer } from "../../test/support/pgbouncer.ts";

const server = new URL(process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres");
const port = 16_432;
const subset = [
  "database",
  "transactions",
  "migrations",
  "contacts",
  "messages",
  "broadcasts",
  "idempotency",
  "ledger",
  "processes",
].map((name) => `test/${name}`);

if (existsSync(pgBouncer)) {
  await using _pooler = await startPgBouncer({ server, port, poolSize: 4 });
  process.exitCode = await runTests(process.argv.length > 2 ? process.argv.slice(2) : subset);
} else {
  console.log(`Skipped: there is no PgBouncer at ${pgBouncer}. Install it, or set PGBOUNCER.`);
}

async function runTests(files: readonly string[]): Promise<number> {
  const tests = spawn("npx", ["vitest", "run", "--project", "postgres", ...files], {
    stdio: "inherit",
    env: { ...process.env, TEST_POOLER_URL: throughPgBouncer(server, port) },
  });
  const [code] = await once(tests, "exit");
  return code ?? 1;
}
