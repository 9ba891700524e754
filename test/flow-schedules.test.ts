/** Schedules of flows: their next times, what they start, and that each time starts it once. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { iterations } from "./support/iterations.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openPhone } from "./support/simulator.ts";

const startsAt = new Date("2026-03-02T08:00:00Z");
const app = useTestApp({ startsAt });
const minute = 60_000;
const hour = 60 * minute;

type Schedule = Partial<InputOf<typeof flows.create_flow>>;

function createHelpers(running: TestApp) {
  const { create } = createFlowHelpers(running);
  const schedule = (fields: Schedule, nodes = [say("x")]) =>
    create(nodes, { trigger_type: "schedule", trigger_keyword: undefined, ...fields });
  return {
    schedule,
    next: async (id: string) => (await running.call(flows.get_flow, { id })).data.next_run_at,
    runs: async (flow_id: string) =>
      (await running.call(flows.list_flow_runs, { flow_id, per_page: 100 })).data,
    count: async (flow_id: string) =>
      (await running.call(flows.list_flow_runs, { flow_id, per_page: 1 })).meta.total,
    disable: (id: string) => running.call(flows.update_flow, { id, is_enabled: false }),
  };
}

const audience = createBroadcastHelpers(app);
const { schedule, next, runs, count, disable } = createHelpers(app);
const settle = async () => {
  for (let step = 0; step < 4; step += 1) {
    await app.advanceTime(1_000);
  }
};
const at = (ms: number) => new Date(app.now().getTime() + ms).toISOString();

describe("a schedule", () => {
  // No other test advances this clock.
  const app = useTestApp({ startsAt });
  const { schedule, next, disable } = createHelpers(app);

  test("shows its next time in its zone, and is UTC without one", async () => {
    const flow = await schedule({
      trigger_schedule: "0 9 * * *",
      trigger_schedule_timezone: "america/new_york",
    });
    expect(flow).toMatchObject({
      trigger_schedule: "0 9 * * *",
      trigger_schedule_timezone: "America/New_York",
      next_run_at: "2026-03-02T14:00:00.000Z",
      settings: { cohort_id: null },
    });
    const changed = (
      await app.call(flows.update_flow, { id: flow.id, trigger_schedule_timezone: "Asia/Kolkata" })
    ).data;
    expect(changed.next_run_at).toBe("2026-03-03T03:30:00.000Z");
    await disable(flow.id);
    const utc = await schedule({ trigger_schedule: "0 9 * * *" });
    expect(utc).toMatchObject({
      trigger_schedule_timezone: "UTC",
      next_run_at: "2026-03-02T09:00:00.000Z",
    });
    await disable(utc.id);
  });

  test.each([
    [{}, "trigger_schedule"],
    [{ trigger_schedule: "0 9 * * *", trigger_schedule_at: "2030-01-01T00:00:00Z" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "2026-03-02T07:59:00Z" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "2026-03-02T07:59:00" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "2030-01-01T00:00:00+16:00" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "0000-01-01T00:00:00" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "9999-12-31T23:59:59" }, "trigger_schedule_at"],
    [{ trigger_schedule_at: "2030-01-01" }, "trigger_schedule_at"],
    [{ trigger_schedule: "0 9 * *" }, "trigger_schedule"],
    [{ trigger_schedule: "61 9 * * *" }, "trigger_schedule"],
    [{ trigger_schedule: "@daily" }, "trigger_schedule"],
    [{ trigger_schedule: "0 0 31 2 *" }, "trigger_schedule"],
    [{ trigger_schedule: "0 9 * * *", trigger_schedule_timezone: "+01:00" }, "trigger_schedule_timezone"],
  ] as const)("is rejected as %j", async (fields, param) => {
    expect(await expectFailure(schedule(fields))).toMatchObject({ status: 400, error: { param } });
  });

  test("of an unknown zone is rejected with the nearest one", async () => {
    const fields = { trigger_schedule: "0 9 * * *", trigger_schedule_timezone: "Europe/Berln" };
    const { error } = await expectFailure(schedule(fields));
    expect(JSON.stringify(error)).toContain("Did you mean Europe/Berlin?");
  });

  test("may be one time without an offset, which is a time of its zone", async () => {
    const berlin = { trigger_schedule_timezone: "Europe/Berlin" };
    // One has no zone, one is in summer, one is left out by the change to summer time, one has an offset.
    for (const [fields, next_run_at] of [
      [{ trigger_schedule_at: "2026-03-05T10:00:00" }, "2026-03-05T10:00:00.000Z"],
      [{ trigger_schedule_at: "2026-07-01T09:30", ...berlin }, "2026-07-01T07:30:00.000Z"],
      [{ trigger_schedule_at: "2026-03-29T02:30:00", ...berlin }, "2026-03-29T01:00:00.000Z"],
      [{ trigger_schedule_at: "2026-07-01T09:30:00-05:00", ...berlin }, "2026-07-01T14:30:00.000Z"],
    ] as const) {
      const { id, ...flow } = await schedule(fields);
      expect(flow).toMatchObject({ trigger_schedule_at: next_run_at, next_run_at });
      await disable(id);
    }
    const { id } = await schedule({ trigger_schedule: "0 9 * * *", ...berlin });
    const { data } = await app.call(flows.update_flow, { id, trigger_schedule_at: "2026-07-01T09:30:00" });
    expect(data.next_run_at).toBe("2026-07-01T07:30:00.000Z");
    await disable(id);
  });

  test("is cleared when it is disabled, and computed anew when it is enabled or changed", async () => {
    const { id } = await schedule({ trigger_schedule: "0 9 * * *" });
    await app.call(flows.toggle_flow, { id });
    expect(await next(id)).toBeNull();
    await app.call(flows.toggle_flow, { id });
    expect(await next(id)).toBe("2026-03-02T09:00:00.000Z");
    const once = { id, trigger_schedule_at: "2026-03-05T10:00:00Z" };
    const { data } = await app.call(flows.update_flow, once);
    expect(data).toMatchObject({ trigger_schedule: null, next_run_at: "2026-03-05T10:00:00.000Z" });
    // A change of another field of the schedule keeps the time.
    const kept = (await app.call(flows.update_flow, { id, trigger_schedule_timezone: "Asia/Kolkata" })).data;
    expect(kept.next_run_at).toBe("2026-03-05T10:00:00.000Z");
    await app.call(flows.update_flow, { id, trigger_type: "keyword", trigger_keyword: "zebra" });
    expect(await next(id)).toBeNull();
  });
});

describe("the audience", () => {
  test("is every open conversation, once for each time", async () => {
    const phones = ["+14155571001", "+14155571002"].map((number) => openPhone(app, number));
    const written = [];
    for (const phone of phones) {
      written.push((await phone.write("hello")).conversation_id);
    }
    const closed = await openPhone(app, "+14155571003").write("bye");
    await app.call(conversations.update_conversation, { id: closed.conversation_id, status: "closed" });
    const flow = await schedule({ trigger_schedule_at: at(minute) }, [say("Good morning")]);
    await app.advanceTime(minute);
    await settle();
    const started = await runs(flow.id);
    expect(started.map((run) => run.conversation_id).sort()).toEqual([...written].sort());
    expect(started[0]).toMatchObject({ trigger_type: "schedule", status: "completed" });
    expect(await next(flow.id)).toBeNull();
    expect(textsOf(await openPhone(app, "+14155571001").listMessages())).toEqual(["Good morning"]);
    await app.advanceTime(2 * minute);
    expect(await count(flow.id)).toBe(2);
  });

  test("is a cohort: a conversation is created, and those who may not be written to are left out", async () => {
    const numbers = ["+14155571101", "+14155571102", "+14155571103", "+14155571104"];
    const { cohort, people } = await audience.createCohort(numbers);
    const [reached, blocked, erased, optedOut] = people;
    await app.call(contacts.update_contact, { id: optedOut?.id ?? "", opted_out: true });
    await app.call(contacts.update_contact, { id: blocked?.id ?? "", blocked: true });
    await app.call(contacts.delete_contact, { id: erased?.id ?? "" });
    const tag = { id: "tag", node_type: "add_tag", action_config: { tag: "seen" } } as const;
    const flow = await schedule({ trigger_schedule_at: at(minute), settings: { cohort_id: cohort.id } }, [
      tag,
    ]);
    await app.advanceTime(minute);
    await settle();
    expect(await runs(flow.id)).toMatchObject([{ contact_id: reached?.id, status: "completed" }]);
    const { data } = await app.call(conversations.list_conversations, { contact_id: reached?.id ?? "" });
    expect(data).toMatchObject([{ status: "pending" }]);

    const remove = app.call(cohorts.delete_cohort, { id: cohort.id });
    expect(await expectFailure(remove)).toMatchObject({ status: 409, code: "cohort_in_use" });
    await app.call(flows.delete_flow, { id: flow.id });
    await app.call(cohorts.delete_cohort, { id: cohort.id });
  });

  test("outside the service window gets no text: the error is the run's reason", async () => {
    const fields = {
      name: "Strict",
      phone_number: "+14155570999",
      settings: { service_window: "strict" },
    } as const;
    const { data: inbox } = await app.call(inboxes.create_inbox, fields);
    const { cohort } = await audience.createCohort(["+14155571201"]);
    const settings = { cohort_id: cohort.id };
    const flow = await schedule({ trigger_schedule_at: at(minute), inbox_id: inbox.id, settings });
    await app.advanceTime(minute);
    await settle();
    const reason = "outside_service_window";
    expect(await runs(flow.id)).toMatchObject([{ status: "failed", reason }]);
  });

  test("must be a cohort of the organization", async () => {
    const missing = schedule({ trigger_schedule: "0 9 * * *", settings: { cohort_id: "coh_missing" } });
    expect(await expectFailure(missing)).toMatchObject({ code: "cohort_not_found" });
  });
});

describe("after a time that was missed", () => {
  const missed = async (lateMs: number, fields: Schedule = {}) => {
    const flow = await schedule({ trigger_schedule: "30 14 * * *", ...fields });
    const due = Date.parse(flow.next_run_at ?? "");
    // One step: nothing ran at the time.
    await app.advanceTime(due + lateMs - app.now().getTime());
    await settle();
    const started = await count(flow.id);
    const next_run_at = await next(flow.id);
    await disable(flow.id);
    return { started, next_run_at, due };
  };

  test("a flow starts once within an hour", async () => {
    const phone = openPhone(app, "+14155571001");
    await phone.write("hello");
    const open = (await app.call(conversations.list_conversations, { status: "open" })).meta.total;
    const { started, next_run_at, due } = await missed(59 * minute);
    expect(started).toBe(open);
    expect(next_run_at).toBe(new Date(due + 24 * hour).toISOString());
  });

  test("a flow is skipped after an hour", async () => {
    const { started, next_run_at, due } = await missed(60 * minute);
    expect(started).toBe(0);
    expect(next_run_at).toBe(new Date(due + 24 * hour).toISOString());
  });

  test("of several, the latest one counts", async () => {
    const open = (await app.call(conversations.list_conversations, { status: "open" })).meta.total;
    const { started } = await missed(5 * hour + 20 * minute, { trigger_schedule: "0 */2 * * *" });
    // It was due 80 minutes ago.
    expect(started).toBe(0);
    const latest = await missed(2 * hour + 20 * minute, { trigger_schedule: "0 * * * *" });
    expect(latest.started).toBe(open);
  });
});

test("after a crash between two batches, the rest starts once", async () => {
  const people = iterations(150, 250);
  await using database = await lendTestDatabase();
  const { cohort, id } = await (async () => {
    await using first = await startTestApp({ database, startsAt });
    const filled = await createBroadcastHelpers(first).fillCohort(people);
    const flow = await createHelpers(first).schedule(
      { trigger_schedule: "0 9 * * *", settings: { cohort_id: filled.id } },
      [{ id: "tag", node_type: "add_tag", action_config: { tag: "seen" } }],
    );
    // The job of the second batch fails as if the process had died with it.
    const { queries } = first.server.database;
    await first.advanceTime(hour - 1_000);
    await queries.schema
      .alterTable("flow_firings")
      .addCheckConstraint("first_batch", sql`started <= 100`)
      .execute();
    await first.advanceTime(1_000);
    expect(await createHelpers(first).count(flow.id)).toBe(100);
    await queries.schema.alterTable("flow_firings").dropConstraint("first_batch").execute();
    return { cohort: filled, id: flow.id };
  })();
  await using second = await startTestApp({ database, startsAt: new Date(startsAt.getTime() + 2 * hour) });
  for (let step = 0; step < 6; step += 1) {
    await second.advanceTime(2_000);
  }
  const helpers = createHelpers(second);
  expect(await helpers.count(id)).toBe(people);
  const { rows } = await sql<{ status: string; started: number }>`
    select status, started from flow_firings`.execute(second.server.database.queries);
  expect(rows).toEqual([{ status: "completed", started: people }]);
  const tagged = await second.call(contacts.list_contacts, { tag: "seen" });
  expect(tagged.meta.total).toBe(people);
  const { data: counted } = await second.call(cohorts.get_cohort, { id: cohort.id });
  expect(counted.contact_count).toBe(people);
});

test("several schedules over 30 days fire at each of their times once", async () => {
  const days = iterations(4, 30);
  // A Sunday on which the clocks of Berlin change, before the end of a month.
  const startsAt = new Date("2026-03-29T00:00:00Z");
  await using own = await startTestApp({ startsAt, enabledModules: modulesWithRareUpkeep() });
  const helpers = createHelpers(own);
  const { id: cohort_id } = await createBroadcastHelpers(own).fillCohort(2);
  const settings = { cohort_id };
  const nodes = [{ id: "end", node_type: "end" } as const];
  const create = async (trigger_schedule: string, trigger_schedule_timezone: string) =>
    (await helpers.schedule({ trigger_schedule, trigger_schedule_timezone, settings }, nodes)).id;
  const daily = await create("30 2 * * *", "Europe/Berlin");
  const weekdays = await create("0 9 * * 1-5", "Asia/Kolkata");
  const often = await create("0 */6 * * *", "America/New_York");
  const monthly = await create("0 12 1 * *", "Australia/Lord_Howe");
  const end = own.now().getTime() + days * 24 * hour;
  while (own.now().getTime() < end) {
    const { rows } = await sql<{ due: string }>`select min(next_run_at) as due from flows`.execute(
      own.server.database.queries,
    );
    await own.advanceTime(Math.min(Date.parse(rows[0]?.due ?? ""), end) - own.now().getTime());
  }
  expect(await helpers.count(daily)).toBe(2 * days);
  expect(await helpers.count(weekdays)).toBe(2 * iterations(3, 21));
  expect(await helpers.count(often)).toBe(2 * 4 * days);
  expect(await helpers.count(monthly)).toBe(2);
}, 180_000);

test("of two processes, one fires each time", { tags: "postgres" }, async () => {
  // More than one batch.
  const people = iterations(110, 150);
  const times = ["08:10", "08:20", "08:30"].slice(0, iterations(2, 3));
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database, startsAt });
  await using two = await startTestApp({ database, startsAt });
  const { id: cohort_id } = await createBroadcastHelpers(one).fillCohort(people);
  const helpers = createHelpers(one);
  const { id } = await helpers.schedule({ trigger_schedule: "*/10 * * * *", settings: { cohort_id } }, [
    { id: "end", node_type: "end" },
  ]);
  for (let step = 0; step < times.length; step += 1) {
    await Promise.all([one.advanceTime(10 * minute - 5_000), two.advanceTime(10 * minute - 5_000)]);
    for (let settling = 0; settling < 5; settling += 1) {
      await Promise.all([one.advanceTime(1_000), two.advanceTime(1_000)]);
    }
  }
  await Promise.all([one.advanceTime(1_000), two.advanceTime(1_000)]);
  await Promise.all([one.advanceTime(1_000), two.advanceTime(1_000)]);
  const { rows } = await sql<{ due_at: string; started: number }>`
    select to_char(due_at at time zone 'utc', 'HH24:MI') as due_at, started from flow_firings order by 1
  `.execute(one.server.database.queries);
  expect(rows).toEqual(times.map((due_at) => ({ due_at, started: people })));
  expect(await helpers.count(id)).toBe(times.length * people);
});
