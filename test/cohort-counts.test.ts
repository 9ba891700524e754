/** The job that counts a new cohort whose count took too long for the call. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { DatabaseTransaction } from "../src/database/database.ts";
import { newJob } from "../src/jobs/job.ts";
import { countCohortJob } from "../src/platform/automation/cohorts/count.ts";
import { modules } from "../src/platform/index.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { commitWhenWaiting } from "./support/locks.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

async function create() {
  const { data } = await app.call(cohorts.create_cohort, { name: "All", query: {} });
  return data;
}

/** Counts a cohort as after a creation that did not wait for the count. */
async function count({ organization_id, id: cohort_id }: Awaited<ReturnType<typeof create>>) {
  const { database } = await readWorld(app);
  await database.transaction((tx) => tx.enqueue([newJob(countCohortJob, { organization_id, cohort_id })]));
  await app.runDueJobs();
}

const countOf = async (id: string) => (await app.call(cohorts.get_cohort, { id })).data.contact_count;

test("the job counts the cohort, also after a change of its name", async () => {
  await app.call(contacts.create_contact, { phone_number: "+14155550301" });
  const cohort = await create();
  await app.server.database.queries.updateTable("cohorts").set({ contact_count: 0 }).execute();
  await app.call(cohorts.update_cohort, { id: cohort.id, name: "Everybody" });
  await count(cohort);
  expect(await countOf(cohort.id)).toBe(1);
});

test("the count of a former query does not replace that of an update", { tags: "postgres" }, async () => {
  const cohort = await create();
  const query = JSON.stringify({ attribute: "name", operator: "exists" });
  // The job has read the former query, and waits for the contacts.
  const update = async (tx: DatabaseTransaction) => {
    await sql`lock table contacts in access exclusive mode`.execute(tx);
    await tx.updateTable("cohorts").set({ query, contact_count: 40 }).where("id", "=", cohort.id).execute();
  };
  await commitWhenWaiting(app, update, [() => count(cohort)]);
  expect(await countOf(cohort.id)).toBe(40);
});
