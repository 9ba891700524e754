/** PgBouncer in transaction mode in front of a PostgreSQL server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const pgBouncer = process.env.PGBOUNCER ?? "/usr/sbin/pgbouncer";

interface PgBouncerOptions {
  readonly server: URL;
  readonly port: number;
  /** How many connections to the server it has for each database. */
  readonly poolSize: number;
}

/** The same database, through PgBouncer on this port. */
export function throughPgBouncer(url: string | URL, port: number): string {
  return Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(port) }).href;
}

export async function startPgBouncer({ server, port, poolSize }: PgBouncerOptions) {
  const folder = await mkdtemp(join(tmpdir(), "tidings-pooled-"));
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
default_pool_size = ${poolSize}
server_idle_timeout = 2
max_client_conn = 1000
logfile = /dev/null
`,
  );
  // PgBouncer does not run as root.
  await Promise.all([chmod(folder, 0o755), chmod(users, 0o644), chmod(settings, 0o644)]);
  let running = await run(settings, port);
  return {
    async restart() {
      await end(running);
      running = await run(settings, port);
    },
    async [Symbol.asyncDispose]() {
      await end(running);
      await rm(folder, { recursive: true });
    },
  };
}

async function run(settings: string, port: number): Promise<ChildProcess> {
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn(pgBouncer, ["-q", ...asUser, settings], { stdio: "inherit" });
  while (!(await isListening(port))) {
    if (pooler.exitCode !== null) {
      throw new Error(`PgBouncer ended with the code ${pooler.exitCode}.`);
    }
    await sleep(50);
  }
  return pooler;
}

async function end(pooler: ChildProcess): Promise<void> {
  pooler.kill();
  await once(pooler, "exit");
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
