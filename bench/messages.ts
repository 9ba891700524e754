/**
 * S1: sending messages over REST: rates and times compared with a bare `pg` client, and the cost of each.
 *
 * The cost is the number of statements and waits, and CPU time; the processor time includes the database's.
 * `--engine postgres|embedded` (default both), `--quick` for shorter slices. `--program PATH` names the
 * `dist/tidings.js` of another checkout, which is measured in turn with this one: its figures follow after
 * "|". `--pooled` measures this one on PostgreSQL behind Debian's PgBouncer too, which keeps no prepared
 * statements, so that every statement is parsed each time. Ratios of one run are comparable, rates of two
 * runs are not. Run `npm run build` first.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startPgBouncer } from "../test/support/pgbouncer.ts";
import { type LoadResult, quantile, rateOf, runClosedLoop, runOpenLoop } from "./support/load.ts";
import { median } from "./support/median.ts";
import { inTurn } from "./support/messages/in-turn.ts";
import { measureProcessorTime } from "./support/messages/processor-cost.ts";
import { describeCost, describeLoad, print, rateSince } from "./support/messages/report.ts";
import { type Engine, Subject, type SubjectOptions, serverUrl } from "./support/messages/subject.ts";
import { startYardstick, type Yardstick } from "./support/messages/yardstick.ts";
import { type Cost, costAbove, costBetween } from "./support/pool-counters.ts";

const { values: options } = parseArgs({
  options: {
    engine: { type: "string" },
    program: { type: "string" },
    pooled: { type: "boolean", default: false },
    quick: { type: "boolean" },
  },
});
const program = "dist/tidings.js";
const poolerPort = 16_434;
const variants: readonly Pick<SubjectOptions, "name" | "program" | "poolerPort">[] = [
  { name: "this", program },
  ...(options.program === undefined ? [] : [{ name: "other", program: options.program }]),
  ...(options.pooled ? [{ name: "pooled", program, poolerPort }] : []),
];
/** Many short slices, so that other load on the machine affects all subjects alike. */
const sliceMs = 500;
const rounds = options.quick ? 2 : 3;
const paced = { count: options.quick ? 10 : 30, everyMs: 300, settleMs: 2_000 };
const maxP99Ms = 40;
/** The search for the highest rate of messages a second. */
const search = { first: 25, factor: 1.4, attempts: 2 };
/** Messages that are sent as fast as possible and then delivered. */
const backlogs: Readonly<Record<Engine, number>> = options.quick
  ? { postgres: 1_000, embedded: 500 }
  : { postgres: 5_000, embedded: 1_000 };
/** A backlog that takes longer to send or deliver is not awaited; its rates are then the rates so far. */
const maxMs = options.quick ? 15_000 : 30_000;
/** Relative to the rate of the bare client. */
const minRatio = "≥ 0.5";
const minDelivery: Readonly<Record<Engine, string>> = { postgres: "≥ 1,000/s", embedded: "" };

/** With the rate of the bare client measured right after it. */
type ComparedResult = LoadResult & { readonly bare: number };

const engines = options.pooled ? (["postgres"] as const) : (["postgres", "embedded"] as const);
await using _pooler = options.pooled
  ? await startPgBouncer({ server: new URL(serverUrl), port: poolerPort, poolSize: 20 })
  : undefined;
for (const engine of engines) {
  if ((options.engine ?? engine) === engine) {
    await measureEngine(engine);
  }
}

async function measureEngine(engine: Engine): Promise<void> {
  const startedAt = performance.now();
  const subjects: Subject[] = [];
  try {
    for (const [index, variant] of variants.entries()) {
      const subject = await Subject.create({ ...variant, engine, port: 39_451 + index });
      subjects.push(subject);
      await subject.start();
      await subject.fill();
    }
    console.log(`\n${engine}: ${subjects.map(({ name }) => name).join(" | ")}`);
    await using yardstick = await openYardstick(subjects);
    for (const subject of subjects) {
      await subject.start();
      await subject.fill();
    }
    await measureClosedLoops(subjects, yardstick);
    await measureProcessorTime(subjects, yardstick, backlogs[engine]);
    await measureOpenLoops(subjects);
    await measurePaced(subjects);
    await measureBacklog(subjects, engine);
    await measureAcceptAndDelivery(subjects, engine, yardstick);
    console.log(`  ${((performance.now() - startedAt) / 1_000).toFixed(0)} s in all`);
  } finally {
    await Promise.all(subjects.map((subject) => subject[Symbol.asyncDispose]()));
  }
}

/** Deliveries continue during each slice, and the remaining ones are awaited after it. */
async function measureClosedLoops(subjects: readonly Subject[], yardstick: Yardstick): Promise<void> {
  const loads = [
    { connections: 1 },
    { connections: 16 },
    { connections: 64 },
    { connections: 1, keyed: true },
    { connections: 16, keyed: true },
    { connections: 64, keyed: true },
    { connections: 16, unknown: true },
  ];
  await yardstick.run(sliceMs);
  for (const load of loads) {
    const isCompared = load.connections === 16 && !load.unknown;
    const results = await inTurn(subjects, rounds, async (subject) => {
      const run = { connections: load.connections, ms: sliceMs };
      const result = await subject.send(load.connections, (call) => runClosedLoop(run, call), load);
      await subject.drain();
      const bare = isCompared ? rateOf(await yardstick.run(sliceMs)) : 0;
      return { ...result, bare };
    });
    const what = `${load.connections} connections${load.keyed ? ", idempotency key" : ""}${load.unknown ? ", new contacts" : ""}`;
    print(what, results, describeLoad);
    if (isCompared) {
      print("  ÷ bare client", results, describeRatio, minRatio);
    }
  }
}

/** The median over the slices of a slice's rate divided by the bare client's rate. */
function describeRatio(slices: readonly ComparedResult[]): string {
  const ratio = median(slices.map((slice) => rateOf(slice) / slice.bare));
  return `${ratio.toFixed(2)} of ${median(slices.map(({ bare }) => bare)).toFixed(0)}/s`;
}

/**
 * Opens the yardstick on a copy of the first subject's database, with the same rows. Stops all subjects, so
 * that none is warmer than another.
 */
async function openYardstick(subjects: readonly Subject[]): Promise<Yardstick> {
  const [first] = subjects;
  if (!first) {
    throw new Error("There is nothing to measure.");
  }
  await Promise.all(subjects.map((subject) => subject.stop()));
  return startYardstick(await first.copy());
}

async function measureOpenLoops(subjects: readonly Subject[]): Promise<void> {
  const run = async (subject: Subject, perSecond: number) => {
    const result = await subject.send(64, (call) => runOpenLoop({ perSecond, ms: sliceMs }, call));
    await subject.drain();
    return result;
  };
  for (const perSecond of [100, 300]) {
    const results = await inTurn(subjects, rounds, (subject) => run(subject, perSecond));
    print(`open loop, ${perSecond}/s`, results, describeLoad, `p99 < ${maxP99Ms} ms`);
  }
  const highest = await oneByOne(subjects, (subject) =>
    findHighest(async (rate) => {
      const result = await run(subject, rate);
      return result.errors === 0 && quantile(result, 0.99) < maxP99Ms;
    }),
  );
  print(`highest rate with p99 < ${maxP99Ms} ms`, highest, String);
}

/**
 * The highest rate that passes, of increasing rates. Each rate gets a second attempt, because other programs
 * use the machine too.
 */
async function findHighest(passes: (rate: number) => Promise<boolean>): Promise<string> {
  let [highest, rate, failures] = [0, search.first, 0];
  while (failures < search.attempts) {
    if (await passes(rate)) {
      [highest, rate, failures] = [rate, Math.round(rate * search.factor), 0];
    } else {
      failures += 1;
    }
  }
  return highest === 0 ? `< ${rate}/s` : `${highest}/s`;
}

/** Statements of one message in an otherwise idle service, from the request until the delivery. */
async function measurePaced(subjects: readonly Subject[]): Promise<void> {
  const idle = await costs(subjects, () => sleep(paced.count * paced.everyMs + paced.settleMs));
  const busy = await costs(subjects, async (subject) => {
    const { queued } = await subject.counters();
    const pace = { perSecond: 1_000 / paced.everyMs, ms: paced.count * paced.everyMs };
    await subject.send(1, (call) => runOpenLoop(pace, call));
    await sleep(paced.settleMs);
    await subject.awaitDelivery(queued + paced.count);
  });
  const rows = busy.map((cost, index) => costAbove(cost, idle[index] ?? cost, paced.count));
  print("one message, until delivered", rows, describeCost);
}

/** Runs `work` with all subjects at the same time. @returns what each subject used in that time. */
function costs(subjects: readonly Subject[], work: (subject: Subject) => Promise<unknown>): Promise<Cost[]> {
  return Promise.all(
    subjects.map(async (subject) => {
      const before = await subject.counters();
      await work(subject);
      return costBetween(before, await subject.counters());
    }),
  );
}

/**
 * Messages sent as fast as possible while earlier messages are delivered, until the last message is
 * delivered.
 */
async function measureBacklog(subjects: readonly Subject[], engine: Engine): Promise<void> {
  const count = backlogs[engine];
  const rows = await oneByOne(subjects, async (subject) => {
    const before = await subject.counters();
    const startedAt = performance.now();
    const accepted = await sendMany(subject, count);
    const last = await subject.counters();
    const lastAt = performance.now();
    const end = await subject.awaitDelivery(before.queued + accepted.count, maxMs);
    const [whole, rest] = [end.delivered - before.delivered, end.delivered - last.delivered];
    return {
      accepted,
      cost: costBetween(before, end, whole),
      whole: rateSince(startedAt, whole),
      rest: rateSince(lastAt, rest),
    };
  });
  print(`${count} at once: accepted`, rows, ({ accepted }) => describeLoad([accepted]));
  print("  accepted and delivered", rows, ({ whole }) => whole);
  print("  delivered once all are accepted", rows, ({ rest }) => rest);
  print("  of each message", rows, ({ cost }) => describeCost(cost));
}

/**
 * Messages accepted by a process without workers, then delivered by a process that starts with this backlog.
 */
async function measureAcceptAndDelivery(
  subjects: readonly Subject[],
  engine: Engine,
  yardstick: Yardstick,
): Promise<void> {
  const count = backlogs[engine];
  const rows = await oneByOne(subjects, async (subject) => {
    await subject.stop();
    await subject.startAccepting();
    // The first messages warm up the process.
    await sendMany(subject, count / 5);
    const before = await subject.counters();
    const accepted = await repeatInPairs(subject, yardstick);
    const afterSlices = await subject.counters();
    await sendMany(subject, count - afterSlices.queued);
    const after = await subject.counters();
    await subject.stop();
    await subject.start();
    const start = await subject.counters();
    const startedAt = performance.now();
    const end = await subject.awaitDelivery(after.queued, maxMs);
    const delivered = end.delivered - start.delivered;
    return {
      accepted,
      accept: costBetween(before, after, after.queued - before.queued),
      rate: rateSince(startedAt, delivered),
      deliver: costBetween(start, end, delivered),
      failed: String(end.failed),
    };
  });
  print("16 connections, without workers", rows, ({ accepted }) => describeLoad(accepted));
  print("  ÷ bare client", rows, ({ accepted }) => describeRatio(accepted), minRatio);
  print("  of each message", rows, ({ accept }) => describeCost(accept));
  print("delivered from a backlog", rows, ({ rate }) => rate, minDelivery[engine]);
  print("  of each message", rows, ({ deliver }) => describeCost(deliver));
  print("messages that failed", rows, ({ failed }) => failed, "0");
}

async function sendMany(subject: Subject, count: number): Promise<LoadResult> {
  return subject.send(64, (call) => runClosedLoop({ connections: 64, count, ms: maxMs }, call));
}

/** Slices of 16 connections, each followed by a slice of the bare client. */
async function repeatInPairs(subject: Subject, yardstick: Yardstick): Promise<ComparedResult[]> {
  const slices: ComparedResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const run = { connections: 16, ms: sliceMs };
    const result = await subject.send(16, (call) => runClosedLoop(run, call));
    slices.push({ ...result, bare: rateOf(await yardstick.run(sliceMs)) });
  }
  return slices;
}

async function oneByOne<Result>(
  subjects: readonly Subject[],
  measure: (subject: Subject) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const subject of subjects) {
    results.push(await measure(subject));
  }
  return results;
}
