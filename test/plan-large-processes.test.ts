/**
 * Two processes prepare a plan at once while their connections are cut, and one takes over from another that
 * died: each target is stored once, in order, and runs.
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { crashTransactions } from "./support/crashes.ts";
import { cutConnections } from "./support/cut-connections.ts";
import { lendTestDatabase } from "./support/database.ts";
import { iterations } from "./support/iterations.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createWorldProbe } from "./support/world.ts";

// The embedded database has one process.

const sequences = iterations(3, 20);
const count = 2_500;

async function positionsOf(app: TestApp, plan_id: string) {
  const { rows } = await sql<{ position: number; contact_id: string }>`
    select position, contact_id from plan_targets where plan_id = ${plan_id} order by position
  `.execute(app.server.database.queries);
  return rows;
}

async function expectComplete(app: TestApp, plan_id: string) {
  const rows = await positionsOf(app, plan_id);
  expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(new Set(rows.map(({ contact_id }) => contact_id)).size).toBe(count);
}

test("two processes with cut connections store each target once", {
  tags: "postgres",
  timeout: 120_000 + sequences * 10_000,
}, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database });
  await using two = await startTestApp({ database, startsAt: one.now() });
  const { draftMany, planBroadcast, read } = createPlanHelpers(one);
  const { id } = await draftMany(count, 611);
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    const made = await planBroadcast(id);
    for (let round = 0; round < 20 && (await read(made.id)).status === "preparing"; round += 1) {
      const cuts = round < 3 ? [cutConnections(one), cutConnections(two)] : [];
      await Promise.allSettled([one.runDueJobs(), two.runDueJobs(), ...cuts]);
      await Promise.allSettled([one.advanceTime(60_000), two.advanceTime(60_000)]);
    }
    expect(await read(made.id)).toMatchObject({ status: "ready", recipient_count: count, excluded_count: 0 });
    await expectComplete(one, made.id);
  }
});

test.each([
  { when: "before", stored: 1_000 },
  // Each batch has enqueued the next one.
  { when: "after", stored: count },
] as const)(
  "a second process continues where the first one died $when a commit",
  {
    tags: "postgres",
  },
  async ({ when, stored }) => {
    const { probe, readWorld } = createWorldProbe();
    await using database = await lendTestDatabase();
    await using one = await startTestApp({ database, enabledModules: { ...modules, probe } });
    const { compare, draftMany, planBroadcast, read, run } = createPlanHelpers(one);
    const { id } = await draftMany(count, 612);
    const made = await planBroadcast(id);
    let transactions = 0;
    const restore = crashTransactions(await readWorld(one), {
      isCrash: () => {
        transactions += 1;
        return transactions > 2;
      },
      when,
    });
    await one.runDueJobs();
    restore();
    const before = await positionsOf(one, made.id);
    expect(before).toHaveLength(stored);
    await using two = await startTestApp({ database, startsAt: one.now() });
    await two.advanceTime(120_000);
    expect(await read(made.id)).toMatchObject({ status: "ready", recipient_count: count });
    await expectComplete(two, made.id);
    expect((await positionsOf(two, made.id)).slice(0, before.length)).toEqual(before);
    await run(made.id);
    const { planned, sent } = await compare(made.id, id);
    expect(sent).toHaveLength(count);
    expect(sent).toEqual(planned);
  },
);
