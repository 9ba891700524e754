/**
 * Two PostgreSQL servers in a temporary folder: a primary, and a standby that confirms every commit. Needs
 * the programs of PostgreSQL, by default those of Debian; as root they run as the user postgres.
 */
import { execFile } from "node:child_process";
import { appendFile, chmod, chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connectTo } from "../../../test/support/postgres.ts";

const programs = process.env.POSTGRES_BIN ?? "/usr/lib/postgresql/15/bin";
const isRoot = process.getuid?.() === 0;
const execute = promisify(execFile);

export interface Server {
  readonly url: string;
  readonly folder: string;
}

async function run(program: string, ...args: string[]): Promise<void> {
  const path = join(programs, program);
  await (isRoot
    ? execute("runuser", ["-u", "postgres", "--", path, ...args], { cwd: "/" })
    : execute(path, args));
}

export async function createServers(ports: readonly [number, number]) {
  const root = await mkdtemp(join(tmpdir(), "tidings-failover-"));
  if (isRoot) {
    const { stdout } = await execute("id", ["-u", "postgres"]);
    await chown(root, Number(stdout), -1);
  }
  await chmod(root, 0o755);
  const [primary, standby] = ports.map((port) => ({
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    folder: join(root, String(port)),
  })) as unknown as [Server, Server]; // one for each port
  await run("initdb", "-D", primary.folder, "-U", "postgres", "-A", "trust");
  await appendFile(
    join(primary.folder, "postgresql.conf"),
    "shared_buffers = 64MB\nunix_socket_directories = ''\nwal_keep_size = 256MB\n",
  );
  await start(primary);
  await follow(standby, primary);
  return {
    primary,
    standby,
    async remove() {
      await Promise.all([primary, standby].map((server) => stop(server)));
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function start({ url, folder }: Server): Promise<void> {
  const options = `-p ${new URL(url).port} -c listen_addresses=127.0.0.1`;
  await run("pg_ctl", "start", "-w", "-D", folder, "-o", options, "-l", `${folder}.log`);
}

/** Ends it at once. */
async function stop({ folder }: Server): Promise<void> {
  await run("pg_ctl", "stop", "-m", "immediate", "-D", folder).catch(() => undefined);
}

/** Makes a server anew as the standby of the other, without which the other confirms no commit. */
export async function follow(server: Server, primary: Server): Promise<void> {
  await stop(server);
  await rm(server.folder, { recursive: true, force: true });
  await run("pg_basebackup", "-D", server.folder, "-d", primary.url, "-R", "-X", "stream", "-c", "fast");
  await start(server);
  await setSynchronous(primary, "*");
  await using client = await connectTo(primary.url);
  const isConfirming = "select from pg_stat_replication where sync_state = 'sync'";
  while ((await client.query(isConfirming)).length === 0) {
    await sleep(50);
  }
}

/** From now on the standby is the primary, and confirms its own commits. */
export async function promote(server: Server): Promise<void> {
  await run("pg_ctl", "promote", "-w", "-D", server.folder);
  await setSynchronous(server, "");
}

async function setSynchronous({ url }: Server, names: string): Promise<void> {
  await using client = await connectTo(url);
  await client.query(`alter system set synchronous_standby_names = '${names}'`);
  await client.query("select pg_reload_conf()");
}

/** Sends a signal to the server and all of its processes. */
export async function signal({ folder }: Server, name: NodeJS.Signals): Promise<void> {
  const [postmaster = ""] = (await readFile(join(folder, "postmaster.pid"), "utf8")).split("\n");
  const { stdout } = await execute("ps", ["-o", "pid=", "--ppid", postmaster]).catch(() => ({ stdout: "" }));
  for (const pid of [postmaster, ...stdout.split("\n")].map(Number).filter((id) => id > 0)) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}

export async function restart(server: Server): Promise<void> {
  await stop(server);
  await rm(join(server.folder, "postmaster.pid"), { force: true });
  await start(server);
}
