/** Plans with many targets: a job prepares them in batches, and the run reaches exactly those. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { maxPlanTargets, plans } from "../tools/plans.ts";
import { useTestApp } from "./support/app.ts";
import { crashTransactions } from "./support/crashes.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const { compare, draftMany, planBroadcast, read, run, runAtOnce } = createPlanHelpers(app);

/** Runs the job of a plan until it has stored some of the batches. The next attempt comes later. */
async function prepareSome(batches: number) {
  let count = 0;
  const isCrash = () => {
    count += 1;
    return count > batches;
  };
  const restore = crashTransactions(await readWorld(app), { isCrash, when: "before" });
  await app.runDueJobs();
  restore();
}

const changeContacts = (ids: readonly string[], change: { readonly name: string }) =>
  app.server.database.queries.updateTable("contacts").set(change).where("id", "in", ids).execute();

test("a plan of 1,001 targets is prepared by a job, shown by pages, and runs for exactly them", {
  tags: "both",
}, async () => {
  const { id } = await draftMany(maxPlanTargets + 1, 601);
  const { rows } = await sql<{ id: string }>`
    select id from contacts where phone_number like '+1601%' order by id offset 700 limit 2
  `.execute(app.server.database.queries);
  const [odd = "", long = ""] = rows.map((row) => row.id);
  await changeContacts([odd], { name: "see https://x.example" });
  await changeContacts([long], { name: "A".repeat(60) });
  const made = await planBroadcast(id);
  expect(made).toMatchObject({
    status: "preparing",
    progress: { prepared: 0, total: 1_001 },
    recipient_count: 0,
    samples: [],
  });
  expect(await expectFailure(runAtOnce(made.id))).toMatchObject({
    status: 409,
    code: "plan_preparing",
    error: { prepared: 0, total: 1_001 },
  });
  expect((await app.call(plans.list_plans, { status: "preparing" })).data.map((one) => one.id)).toEqual([
    made.id,
  ]);
  await app.runDueJobs();
  const page = await app.call(plans.get_plan, { id: made.id, per_page: 5 });
  expect(page.data).toMatchObject({
    status: "ready",
    progress: null,
    recipient_count: 1_001,
    excluded_count: 0,
  });
  expect(page.data.hash).not.toBe(made.hash);
  expect(page.data.samples).toHaveLength(3);
  expect(page.meta).toMatchObject({ total: 1_001 });
  expect(page.data.targets.map(({ is_unusual }) => is_unusual)).toEqual([true, true, false, false, false]);
  expect(new Set(page.data.targets.slice(0, 2).map((one) => one.contact_id))).toEqual(new Set([odd, long]));
  const last = await app.call(plans.get_plan, { id: made.id, per_page: 100, page: 11 });
  expect(last.data.targets).toHaveLength(1);
  const found = await app.call(plans.get_plan, { id: made.id, search: "x.example" });
  expect(found.data.targets.map((one) => one.contact_id)).toEqual([odd]);
  const { result } = await run(made.id);
  expect(result).toMatchObject({ data: { recipient_count: 1_001, execution_status: "processing" } });
  const { planned, sent } = await compare(made.id, id);
  expect(planned).toHaveLength(1_001);
  expect(sent).toEqual(planned);
});

test("of 1,000 targets, all are frozen at once", async () => {
  const { id } = await draftMany(maxPlanTargets, 602);
  expect(await planBroadcast(id)).toMatchObject({ status: "ready", progress: null, recipient_count: 1_000 });
});

test("contacts that change while 2,500 targets are prepared are as they were stored", {
  tags: "both",
}, async () => {
  const { id } = await draftMany(2_500, 603);
  const ids = await idsOf("+1603");
  const made = await planBroadcast(id);
  await prepareSome(2);
  expect(await read(made.id)).toMatchObject({
    status: "preparing",
    progress: { prepared: 1_000, total: 2_500 },
    recipient_count: 1_000,
  });
  const [stored = "", erased = ""] = ids;
  const [blocked = "", gone = "", renamed = ""] = ids.slice(-3);
  await changeContacts([stored, renamed], { name: "Eve" });
  await app.call(contacts.update_contact, { id: blocked, blocked: true });
  for (const contact of [erased, gone]) {
    await app.call(contacts.delete_contact, { id: contact });
  }
  await app.advanceTime(120_000);
  const ready = await read(made.id);
  expect(ready).toMatchObject({ status: "ready", recipient_count: 2_497, excluded_count: 1 });
  const { rows } = await sql<{ contact_id: string; text: string; reason: string | null }>`
    select contact_id, text, reason from plan_targets where plan_id = ${made.id} order by position
  `.execute(app.server.database.queries);
  expect(rows.map((row) => row.contact_id)).toEqual(ids.filter((one) => one !== erased && one !== gone));
  expect(rows[0]).toMatchObject({ contact_id: stored, text: "Hello Ann, we have an offer." });
  expect(rows.at(-1)).toMatchObject({ contact_id: renamed, text: "Hello Eve, we have an offer." });
  expect(rows.at(-2)).toMatchObject({ contact_id: blocked, text: "", reason: "blocked" });
  await app.call(contacts.update_contact, { id: stored, blocked: true });
  await app.call(contacts.delete_contact, { id: renamed });
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ recipient_count: 2_496 });
  const { result } = await run(made.id);
  expect(result).toMatchObject({ data: { recipient_count: 2_495, excluded: { blocked: 2 } } });
  const { planned, sent } = await compare(made.id, id);
  expect(sent).toEqual(planned.filter((one) => one.contact_id !== stored));
});

async function idsOf(prefix: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from contacts where phone_number like ${`${prefix}%`} order by id
  `.execute(app.server.database.queries);
  return rows.map(({ id }) => id);
}

test("a plan that is withdrawn or expires while it is prepared stops", async () => {
  const { id } = await draftMany(2_500, 604);
  const withdrawn = await planBroadcast(id);
  const late = await planBroadcast(id);
  await prepareSome(2);
  await app.call(plans.withdraw_plan, { id: withdrawn.id });
  await app.advanceTime(24 * 3_600_000);
  expect(await read(withdrawn.id)).toMatchObject({ status: "withdrawn", progress: null });
  expect(await read(late.id)).toMatchObject({ status: "expired", progress: null, ended_at: late.expires_at });
  const counts = await app.server.database.queries
    .selectFrom("plans")
    .select(["id", "prepared"])
    .where("id", "in", [withdrawn.id, late.id])
    .execute();
  expect(counts.every(({ prepared }) => (prepared ?? 0) < 2_500)).toBe(true);
  for (const plan of [withdrawn, late]) {
    expect(await expectFailure(run(plan.id))).toMatchObject({ code: "plan_state" });
  }
});

test("a plan whose broadcast vanishes or changes while it is prepared fails with the reason", async () => {
  const { id, cohort, template } = await draftMany(2_500, 605);
  const copy = async () => {
    const input = { name: "Copy", cohort_id: cohort.id, template_id: template.id };
    const { data } = await app.call(broadcasts.create_broadcast, {
      ...input,
      variable_mapping: { "1": "name" },
    });
    return data.id;
  };
  const [deleted, changed] = [await planBroadcast(await copy()), await planBroadcast(id)];
  await prepareSome(2);
  const { data } = await app.call(broadcasts.list_broadcasts, { search: "Copy" });
  await app.call(broadcasts.delete_broadcast, { id: data[0]?.id ?? "" });
  await app.call(broadcasts.update_broadcast, { id, variable_mapping: { "1": { value: "you" } } });
  await app.advanceTime(120_000);
  expect(await read(deleted.id)).toMatchObject({ status: "failed", error: { code: "broadcast_not_found" } });
  expect(await read(changed.id)).toMatchObject({
    status: "failed",
    error: {
      code: "plan_not_prepared",
      message: expect.stringContaining("the broadcast or its template was changed"),
    },
  });
  expect(await expectFailure(run(changed.id))).toMatchObject({ code: "plan_not_prepared" });
  expect(await app.call(broadcasts.get_broadcast, { id })).toMatchObject({ data: { recipient_count: 0 } });
});

test("an amended plan is prepared again, and a changed broadcast gets a new plan that is prepared", async () => {
  const { id } = await draftMany(1_200, 606);
  const made = await planBroadcast(id);
  await prepareSome(1);
  await app.call(plans.amend_plan, { id: made.id, input: {} });
  expect(await read(made.id)).toMatchObject({ status: "preparing", version: 2, progress: { prepared: 0 } });
  await app.advanceTime(120_000);
  expect(await read(made.id)).toMatchObject({ status: "ready", version: 2, recipient_count: 1_200 });
  await app.call(broadcasts.update_broadcast, { id, variable_mapping: { "1": { value: "you" } } });
  expect(await expectFailure(run(made.id))).toMatchObject({
    code: "plan_changed",
    error: { plan: { status: "preparing", version: 3 } },
  });
  await app.runDueJobs();
  expect((await run(made.id, 3)).plan).toMatchObject({ status: "run", version: 3, recipient_count: 1_200 });
  const { planned, sent } = await compare(made.id, id);
  expect(sent).toEqual(planned);
  expect(sent[0]?.text).toBe("Hello you, we have an offer.");
});

test("a preparing plan of another organization does not exist", async () => {
  const { id } = await draftMany(1_100, 607);
  const made = await planBroadcast(id);
  const { key } = await createOtherTenant(app);
  for (const operation of [plans.get_plan, plans.run_plan, plans.withdraw_plan] as const) {
    const failure = await expectFailure(app.call(operation, { id: made.id }, { key }));
    expect(failure).toMatchObject({ status: 404, code: "plan_not_found" });
  }
  const input = { operation: "execute_broadcast", input: { id } };
  expect(await expectFailure(app.call(plans.plan_call, input, { key }))).toMatchObject({
    code: "broadcast_not_found",
  });
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ status: "ready", recipient_count: 1_100 });
});
