/**
 * Failover of PostgreSQL under load: a primary with a synchronous standby is killed, stopped, or frozen and
 * thawed as a former primary, and the standby is promoted. Is an acknowledged message lost or doubled, and
 * how long is the gap?
 *
 * ROUNDS (20) is the number of rounds. The programs of PostgreSQL are those of POSTGRES_BIN.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./support/median.ts";
import { createServers, follow, promote, restart, type Server, signal } from "./support/outages/servers.ts";
import {
  compare,
  describeErrors,
  type Round,
  seconds,
  settle,
  startWriters,
} from "./support/outages/writers.ts";
import { startService } from "./support/service.ts";

const port = 39_430;
const key = `sk_live_${"f".repeat(43)}`;
const roundCount = Number(process.env.ROUNDS ?? 20);
/** How long somebody, or a program, takes to find that the primary is gone, and to promote the standby. */
const decisionMs = 2_000;

const kinds = ["killed", "restarted", "stopped", "frozen"] as const;
type Kind = (typeof kinds)[number];

const faults: Readonly<Record<Kind, (primary: Server, standby: Server) => Promise<void>>> = {
  async killed(primary, standby) {
    await signal(primary, "SIGKILL");
    await sleep(decisionMs);
    await promote(standby);
  },
  async restarted(primary) {
    await signal(primary, "SIGKILL");
    await sleep(500);
    await restart(primary);
  },
  async stopped(primary, standby) {
    await signal(primary, "SIGTERM");
    await sleep(decisionMs);
    await signal(primary, "SIGQUIT").catch(() => undefined);
    await promote(standby);
  },
  /** The former primary runs again beside the new one, and its connections are still open. */
  async frozen(primary, standby) {
    await signal(primary, "SIGSTOP");
    await sleep(decisionMs);
    await promote(standby);
    await sleep(1_000);
    await signal(primary, "SIGCONT");
    await sleep(20_000);
  },
};

const { primary: first, standby: second, remove } = await createServers([39_431, 39_432]);
const hosts = [first, second].map(({ url }) => new URL(url).host).join(",");
const dataDir = await mkdtemp(join(tmpdir(), "tidings-failover-data-"));
const { child, baseUrl } = await startService(port, key, {
  DATABASE_URL: `postgres://postgres@${hosts}/postgres`,
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_LOG_LEVEL: "fatal",
});
const writers = startWriters([baseUrl], key);
try {
  const rounds: (Round & { readonly kind: Kind })[] = [];
  let [primary, standby] = [first, second];
  for (let index = 0; index < roundCount; index += 1) {
    const kind = kinds[index % kinds.length] ?? "killed";
    const round = await writers.during(async () => {
      await faults[kind](primary, standby);
      if (kind !== "restarted") {
        [primary, standby] = [standby, primary];
        await follow(standby, primary);
      }
    });
    rounds.push({ ...round, kind });
    console.log(
      `${index + 1} ${kind}: gap ${seconds(round.gapMs)}, slowest answer ${seconds(round.slowestMs)}, errors: ${describeErrors(round)}`,
    );
    await sleep(1_000);
  }
  await writers.end();
  await report(primary, rounds);
} finally {
  child.kill();
  await once(child, "exit");
  await remove();
  await rm(dataDir, { recursive: true });
}

async function report({ url }: Server, rounds: readonly (Round & { readonly kind: Kind })[]): Promise<void> {
  for (const kind of kinds) {
    const gaps = rounds.filter((round) => round.kind === kind).map(({ gapMs }) => gapMs);
    console.log(`${kind}: gap ${seconds(median(gaps))} median, ${seconds(Math.max(0, ...gaps))} longest`);
  }
  await settle(url);
  const acknowledged = rounds.flatMap((round) => round.acknowledged);
  const { stored, delivered, doubled } = await compare(url, acknowledged);
  console.log(
    `${acknowledged.length} acknowledged, ${stored} stored, ${delivered} delivered, ${doubled} doubled`,
  );
}
