/**
 * R14: what becomes of messages while the database, the network, a pooler, the object store, the
 * collector of traces or a process of the service fails.
 *
 * Eight clients send messages to three processes on PostgreSQL. For each fault: how many messages were
 * acknowledged, and are stored, delivered and doubled; the longest time in which none was acknowledged; and
 * the answers that were errors, each of which was repeated with its idempotency key. Ends with 1 if a message
 * was lost or doubled. Needs root on Linux, openssl, faketime and PgBouncer; the programs of PostgreSQL are
 * those of POSTGRES_BIN. About 7 minutes.
 *
 * `--only killed,frozen` runs some of the faults. `failover` measures a standby that is promoted, `clocks`
 * wrong clocks.
 */
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startDatabaseProxy } from "../test/support/database-proxy.ts";
import { startPgBouncer } from "../test/support/pgbouncer.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { createCertificates } from "./support/outages/certificates.ts";
import { createNetwork, createSmallDisk } from "./support/outages/machine.ts";
import { startOutside, uploadDuring } from "./support/outages/outside.ts";
import {
  createServer,
  endConnections,
  giveToPostgres,
  reload,
  restart,
  type Server,
  signal,
  stop,
} from "./support/outages/servers.ts";
import {
  compare,
  describeErrors,
  type Round,
  seconds,
  settle,
  startWriters,
} from "./support/outages/writers.ts";
import { type BenchService, startService } from "./support/service.ts";

type Faults = Readonly<Record<string, () => Promise<unknown>>>;

const { values: options } = parseArgs({ options: { only: { type: "string" } } });
const ports = [39_441, 39_442, 39_443];
const poolerPort = 39_451;
const key = `sk_live_${"g".repeat(43)}`;
/** How long most faults last: less than the ten seconds for which a request is held. */
const faultMs = 5_000;
const rounds: (Round & { readonly name: string })[] = [];

const root = await mkdtemp(join(tmpdir(), "tidings-faults-"));
await giveToPostgres(root);
try {
  await runAll();
} finally {
  await rm(root, { recursive: true, force: true });
}

async function runAll(): Promise<void> {
  await using network = await createNetwork();
  await using disk = await createSmallDisk(join(root, "disk"), 250);
  await using log = await createSmallDisk(join(root, "log"), 200);
  const certificateFolder = join(root, "certificates");
  const walFolder = join(root, "log", "wal");
  await Promise.all([mkdir(certificateFolder), mkdir(walFolder)]);
  await Promise.all([join(root, "disk"), walFolder].map(giveToPostgres));
  const { namespace, address } = network;
  const database = `postgres://tidings@${address}:5432/tidings`;
  const server = {
    url: `postgres://postgres@${address}:5432/postgres`,
    folder: join(root, "disk", "data"),
    namespace,
  };
  await createServer(server, `min_wal_size = 32MB\nmax_wal_size = 64MB\n`, walFolder);
  try {
    await runOnServer(server.url, "create role tidings login");
    await runOnServer(server.url, "create database tidings owner tidings");
    const certificates = await createCertificates(server, certificateFolder);
    const direct: Faults = {
      "server stopped and started": async () => {
        await stop(server, "fast");
        await sleep(3_000);
        await restart(server);
      },
      "server killed and started": async () => {
        await signal(server, "SIGKILL");
        await sleep(3_000);
        await restart(server);
      },
      "disk full": () => during(disk.fill, disk.free),
      "write-ahead log full": async () => {
        await during(() => fillLog(server, log.fill), log.free);
        await restart(server);
      },
      "server read-only": () =>
        during(
          () => reload(server, { default_transaction_read_only: "on" }),
          () => reload(server, { default_transaction_read_only: "off" }),
        ),
      "server frozen": () =>
        during(
          () => signal(server, "SIGSTOP"),
          () => signal(server, "SIGCONT"),
        ),
      "every packet dropped for 10 s": () => during(network.cut, network.mend, 10_000),
      "connections exhausted": () => exhaust(server),
      "certificate expired": () =>
        during(
          async () => {
            await certificates.expire();
            await endConnections(server);
          },
          () => certificates.renew(),
        ),
    };
    const ofProcesses = (services: (BenchService | undefined)[]): Faults => ({
      "one of three processes killed": async () => {
        await end(services[0], "SIGKILL");
        await sleep(faultMs);
        services[0] = await start(0, `${database}${certificates.search}`);
      },
      "one of three processes frozen for 16 s": () =>
        during(
          async () => services[1]?.child.kill("SIGSTOP"),
          async () => services[1]?.child.kill("SIGCONT"),
          16_000,
        ),
    });
    await withServices(server, `${database}${certificates.search}`, direct, { ofProcesses });

    await using proxy = await startDatabaseProxy(database);
    await withServices(server, proxy.url, {
      "100 ms more for each packet": () =>
        during(
          async () => proxy.slow(100),
          () => proxy.restore(),
        ),
    });
    await using outside = await startOutside();
    const { store, collector, env } = outside;
    await withServices(
      server,
      database,
      {
        "object store refuses": () => uploading(() => during(store.refuse, store.restore)),
        "object store silent": () => uploading(() => during(async () => store.silence(), store.restore)),
        "collector refuses": () => during(collector.refuse, collector.restore),
        "collector silent": () => during(async () => collector.silence(), collector.restore),
      },
      { env },
    );
    await using pooler = await startPgBouncer({ server: new URL(database), port: poolerPort, poolSize: 2 });
    const pooled = `postgres://tidings@127.0.0.1:${poolerPort}/tidings`;
    await withServices(server, pooled, {
      "PgBouncer with two connections": () => sleep(faultMs),
      "PgBouncer restarted": () => pooler.restart(),
    });
  } finally {
    await stop(server);
  }
}

async function during(begin: () => Promise<unknown>, finish: () => Promise<unknown>, ms = faultMs) {
  await begin();
  await sleep(ms);
  await finish();
}

/** The server has no connection for the service, whose own were lost. */
async function exhaust(server: Server): Promise<void> {
  await runOnServer(server.url, "alter role tidings connection limit 0");
  await endConnections(server);
  await sleep(faultMs);
  await runOnServer(server.url, "alter role tidings connection limit -1");
}

/** Fills the disk of the write-ahead log, and begins new files of it until the server has ended. */
async function fillLog(server: Server, fill: () => Promise<void>): Promise<void> {
  await fill();
  try {
    for (;;) {
      await runOnServer(server.url, "select pg_switch_wal()");
      await sleep(50);
    }
  } catch {
    // It has ended.
  }
}

interface ServiceOptions {
  /** Further faults, of the processes. */
  readonly ofProcesses?: (services: (BenchService | undefined)[]) => Faults;
  /** Further settings of the processes. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the faults, one after another, while the clients send to three processes of the service. */
async function withServices(
  server: Server,
  databaseUrl: string,
  faults: Faults,
  { ofProcesses = () => ({}), env }: ServiceOptions = {},
): Promise<void> {
  const services: (BenchService | undefined)[] = [];
  try {
    for (const [index] of ports.entries()) {
      services.push(await start(index, databaseUrl, env));
    }
    const all = Object.entries({ ...faults, ...ofProcesses(services) });
    const chosen = all.filter(
      ([name]) => options.only?.split(",").some((word) => name.includes(word)) ?? true,
    );
    const writers = startWriters(
      ports.map((port) => `http://127.0.0.1:${port}`),
      key,
    );
    for (const [name, fault] of chosen) {
      await sleep(1_000);
      rounds.push({ ...(await writers.during(fault)), name });
    }
    await writers.end();
    await settle(withDatabase(server.url, "tidings"));
    for (const round of rounds.splice(0)) {
      await print(server, round);
    }
  } finally {
    await Promise.all(services.map((service) => end(service)));
  }
}

async function start(
  index: number,
  databaseUrl: string,
  env: ServiceOptions["env"] = {},
): Promise<BenchService> {
  return await startService(ports[index] ?? 0, key, {
    DATABASE_URL: databaseUrl,
    TIDINGS_DATA_DIR: join(root, `data-${index}`),
    TIDINGS_LOG_LEVEL: "fatal",
    ...env,
  });
}

function uploading(fault: () => Promise<unknown>): Promise<void> {
  return uploadDuring({ baseUrl: `http://127.0.0.1:${ports[0]}`, key }, fault);
}

async function end(service: BenchService | undefined, name: NodeJS.Signals = "SIGTERM"): Promise<void> {
  service?.child.kill(name);
  if (service !== undefined && service.child.exitCode === null && service.child.signalCode === null) {
    await once(service.child, "exit");
  }
}

async function print({ url }: Server, round: Round & { readonly name: string }): Promise<void> {
  const { name, acknowledged, gapMs, slowestMs } = round;
  const { stored, delivered, doubled } = await compare(withDatabase(url, "tidings"), acknowledged);
  console.log(
    `| ${name} | ${acknowledged.length} | ${stored} | ${delivered} | ${doubled} | ${seconds(gapMs)} | ${seconds(slowestMs)} | ${describeErrors(round)} |`,
  );
  if (stored < acknowledged.length || delivered < acknowledged.length || doubled > 0) {
    process.exitCode = 1;
  }
}
