/**
 * PostgreSQL servers in a folder of their own. Needs the programs of PostgreSQL, by default those of Debian;
 * as root they run as the user postgres.
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
  /** The network namespace in which it runs, if it is another one. */
  readonly namespace?: string;
}

async function run(command: readonly string[]): Promise<void> {
  const [program = "", ...args] = command;
  await execute(program, args, { cwd: "/" });
}

/** The command that runs a program of PostgreSQL as its user. */
function asPostgres(program: string, ...args: string[]): readonly string[] {
  const user = isRoot ? ["runuser", "-u", "postgres", "--"] : [];
  return [...user, join(programs, program), ...args];
}

/** Lets the servers write to a folder. */
export async function giveToPostgres(folder: string): Promise<void> {
  if (isRoot) {
    const { stdout } = await execute("id", ["-u", "postgres"]);
    await chown(folder, Number(stdout), -1);
  }
  await chmod(folder, 0o755);
}

/** Creates and starts a server. `walFolder` is where its write-ahead log is, if not in its folder. */
export async function createServer(server: Server, settings: string, walFolder?: string): Promise<void> {
  const wal = walFolder === undefined ? [] : ["--waldir", walFolder];
  await run(asPostgres("initdb", "-D", server.folder, "-U", "postgres", "-A", "trust", ...wal));
  const all = `shared_buffers = 64MB\nunix_socket_directories = ''\n${settings}`;
  await appendFile(join(server.folder, "postgresql.conf"), all);
  await appendFile(join(server.folder, "pg_hba.conf"), "host all all samenet trust\n");
  await start(server);
}

/** A primary, and a standby that confirms every commit. */
export async function createServers(ports: readonly [number, number]) {
  const root = await mkdtemp(join(tmpdir(), "tidings-failover-"));
  await giveToPostgres(root);
  const [primary, standby] = ports.map((port) => ({
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    folder: join(root, String(port)),
  })) as unknown as [Server, Server]; // one for each port
  await createServer(primary, "wal_keep_size = 256MB\n");
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

async function start({ url, folder, namespace }: Server): Promise<void> {
  const { hostname, port } = new URL(url);
  const options = `-p ${port} -c listen_addresses=${hostname}`;
  const inNamespace = namespace === undefined ? [] : ["ip", "netns", "exec", namespace];
  const command = asPostgres("pg_ctl", "start", "-w", "-D", folder, "-o", options, "-l", `${folder}.log`);
  await run([...inNamespace, ...command]);
}

/** Ends it at once, or when its connections have ended their transactions. */
export async function stop({ folder }: Server, mode: "immediate" | "fast" = "immediate"): Promise<void> {
  await run(asPostgres("pg_ctl", "stop", "-m", mode, "-D", folder)).catch(() => undefined);
}

/** Makes a server anew as the standby of the other, without which the other confirms no commit. */
export async function follow(server: Server, primary: Server): Promise<void> {
  await stop(server);
  await rm(server.folder, { recursive: true, force: true });
  const options = ["-R", "-X", "stream", "-c", "fast"];
  await run(asPostgres("pg_basebackup", "-D", server.folder, "-d", primary.url, ...options));
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
  await run(asPostgres("pg_ctl", "promote", "-w", "-D", server.folder));
  await setSynchronous(server, "");
}

async function setSynchronous(server: Server, names: string): Promise<void> {
  await reload(server, { synchronous_standby_names: names });
}

/** Changes settings of a running server. */
export async function reload({ url }: Server, settings: Readonly<Record<string, string>>): Promise<void> {
  await using client = await connectTo(url);
  for (const [name, value] of Object.entries(settings)) {
    await client.query(`alter system set ${name} = '${value}'`);
  }
  await client.query("select pg_reload_conf()");
}

/** Ends the connections of all others. */
export async function endConnections({ url }: Server): Promise<void> {
  await using client = await connectTo(url);
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
  );
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

/** Starts it again, whether it runs, has ended or has crashed. */
export async function restart(server: Server): Promise<void> {
  await stop(server);
  await rm(join(server.folder, "postmaster.pid"), { force: true });
  await start(server);
}
