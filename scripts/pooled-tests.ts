/**
 * Runs tests on PostgreSQL behind PgBouncer in transaction mode, with few connections to the server: the
 * files that are named, by default those of the database and of what works in many processes.
 *
 * PGBOUNCER is the program; by default Debian's. Without one it says so, and ends without an error.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const program = process.env.PGBOUNCER ?? "/usr/sbin/pgbouncer";
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

if (existsSync(program)) {
  const folder = await mkdtemp(join(tmpdir(), "tidings-pooled-"));
  const pooler = await start(folder);
  try {
    process.exitCode = await runTests(process.argv.length > 2 ? process.argv.slice(2) : subset);
  } finally {
    pooler.kill();
    await once(pooler, "exit");
    await rm(folder, { recursive: true });
  }
} else {
  console.log(`Skipped: there is no PgBouncer at ${program}. Install it, or set PGBOUNCER.`);
}

async function start(folder: string): Promise<ChildProcess> {
  const settings = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  const { hostname, username, password } = server;
  await writeFile(users, `"${username}" "${password}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${server.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 4
server_idle_timeout = 2
max_client_conn = 1000
logfile = /dev/null
`,
  );
  // PgBouncer does not run as root.
  await Promise.all([chmod(folder, 0o755), chmod(users, 0o644), chmod(settings, 0o644)]);
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn(program, ["-q", ...asUser, settings], { stdio: "inherit" });
  while (!(await isListening())) {
    if (pooler.exitCode !== null) {
      throw new Error(`PgBouncer ended with the code ${pooler.exitCode}.`);
    }
    await sleep(50);
  }
  return pooler;
}

function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

async function runTests(files: readonly string[]): Promise<number> {
  const pooled = Object.assign(new URL(server), { hostname: "127.0.0.1", port: String(port) });
  const tests = spawn("npx", ["vitest", "run", "--project", "postgres", ...files], {
    stdio: "inherit",
    env: { ...process.env, TEST_POOLER_URL: pooled.href },
  });
  const [code] = await once(tests, "exit");
  return code ?? 1;
}
