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
import { connectTo } from "../test/support/postgres.ts";
import { createServers, follow, promote, restart, type Server, signal } from "./support/failover/servers.ts";
import { median } from "./support/median.ts";
import { pollUntil, startService } from "./support/service.ts";

const port = 39_430;
const key = `sk_live_${"f".repeat(43)}`;
const roundCount = Number(process.env.ROUNDS ?? 20);
const writers = 8;
const pauseMs = 100;
/** How long somebody, or a program, takes to find that the primary is gone, and to promote the standby. */
const decisionMs = 2_000;

const kinds = ["killed", "restarted", "stopped", "frozen"] as const;
type Kind = (typeof kinds)[number];

interface Sent {
  readonly to: string;
  readonly id: string;
}

const acknowledged: Sent[] = [];
/** Of the present round. */
let answers = { errors: 0, worstMs: 0, lastAt: 0, gapMs: 0 };
let isEnding = false;
let count = 0;

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
try {
  const rounds = runRounds(first, second).finally(() => {
    isEnding = true;
  });
  const [primary] = await Promise.all([rounds, ...Array.from({ length: writers }, write)]);
  await report(primary);
} finally {
  child.kill();
  await once(child, "exit");
  await remove();
  await rm(dataDir, { recursive: true });
}

async function runRounds(one: Server, other: Server): Promise<Server> {
  let [primary, standby] = [one, other];
  const gaps: Partial<Record<Kind, { gapMs: number; worstMs: number; errors: number }[]>> = {};
  for (let round = 0; round < roundCount; round += 1) {
    const kind = kinds[round % kinds.length] ?? "killed";
    await sleep(1_000);
    answers = { errors: 0, worstMs: 0, lastAt: performance.now(), gapMs: 0 };
    await faults[kind](primary, standby);
    if (kind !== "restarted") {
      [primary, standby] = [standby, primary];
      await follow(standby, primary);
    }
    const before = acknowledged.length;
    await pollUntil(() => acknowledged.length > before + writers);
    const { gapMs, worstMs, errors } = answers;
    gaps[kind] = [...(gaps[kind] ?? []), { gapMs, worstMs, errors }];
    console.log(
      `${round + 1} ${kind}: gap ${seconds(gapMs)}, slowest answer ${seconds(worstMs)}, ${errors} answers were errors`,
    );
  }
  for (const [kind, list] of Object.entries(gaps)) {
    const all = list.map(({ gapMs }) => gapMs);
    const errors = list.reduce((sum, one) => sum + one.errors, 0);
    console.log(
      `${kind}: ${list.length} rounds, gap ${seconds(median(all))} median, ${seconds(Math.max(...all))} longest, ${errors} errors`,
    );
  }
  return primary;
}

/** Sends messages one after another, each with its key until it is acknowledged. */
async function write(): Promise<void> {
  while (!isEnding) {
    count += 1;
    const to = `+1415${5_000_000 + count}`;
    const id = await sendUntilAcknowledged(to);
    acknowledged.push({ to, id });
    const now = performance.now();
    answers.gapMs = Math.max(answers.gapMs, now - answers.lastAt);
    answers.lastAt = now;
    await sleep(pauseMs);
  }
}

async function sendUntilAcknowledged(to: string): Promise<string> {
  for (;;) {
    const startedAt = performance.now();
    const answer = await fetch(`${baseUrl}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": to },
      body: JSON.stringify({ to, type: "text", text: { body: `To ${to}` } }),
    });
    const body = (await answer.json()) as { data?: { id: string } }; // as documented
    answers.worstMs = Math.max(answers.worstMs, performance.now() - startedAt);
    if (answer.ok && body.data) {
      return body.data.id;
    }
    answers.errors += 1;
    await sleep(pauseMs);
  }
}

/** Waits until all messages are delivered, and compares with what the simulated channel has. */
async function report({ url }: Server): Promise<void> {
  await using client = await connectTo(url);
  const pending = "select from messages where status in ('queued', 'sending')";
  const end = performance.now() + 120_000;
  await pollUntil(async () => (await client.query(pending)).length === 0 || performance.now() > end);
  const stored = new Set((await client.query("select id from messages")).map(({ id }) => id));
  const arrived = await client.query(
    "select phone_number, count(*)::integer as times from simulator_messages where direction = 'outbound' group by 1",
  );
  const times = new Map(arrived.map((row) => [row.phone_number, Number(row.times)]));
  const lost = acknowledged.filter(({ id }) => !stored.has(id)).length;
  const notDelivered = acknowledged.filter(({ to }) => !times.has(to)).length;
  const doubled = [...times.values()].filter((one) => one > 1).length + (stored.size - count);
  console.log(
    `${acknowledged.length} acknowledged, ${stored.size} stored, ${times.size} delivered: ${lost} lost, ${notDelivered} not delivered, ${doubled} doubled`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
