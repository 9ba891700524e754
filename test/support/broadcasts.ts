/**
 * Broadcasts in a test: contacts with a tag, a cohort of them, an approved template, and
 * what became of it all.
 */
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../src/database/database.ts";
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { cohorts } from "../../tools/cohorts/index.ts";
import { contacts } from "../../tools/contacts.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import type { TestApp } from "./app.ts";
import { commitWhenWaiting } from "./locks.ts";
import { createTemplateHelpers } from "./templates.ts";

export function createBroadcastHelpers(app: TestApp) {
  const templates = createTemplateHelpers(app);
  let tags = 0;
  return {
    /** Creates contacts and the cohort of them. */
    async createCohort(numbers: readonly string[], fields: object = {}) {
      tags += 1;
      const tag = `audience ${tags}`;
      const people = [];
      for (const phone_number of numbers) {
        const { id } = (await app.call(contacts.create_contact, { phone_number, ...fields })).data;
        people.push((await app.call(contacts.tag_contact, { id, add: [tag] })).data);
      }
      const query = { attribute: "tags", operator: "has_any", value: [tag] };
      const cohort = (await app.call(cohorts.create_cohort, { name: tag, query })).data;
      return { cohort, people };
    },

    /** As `createCohort`, with as many contacts as wanted, which no operation has created. */
    async fillCohort(count: number, area = 424) {
      tags += 1;
      const tag = `audience ${tags}`;
      await sql`
        insert into contacts (organization_id, id, phone_number, name, tags, created_at, updated_at)
        select (select id from organizations order by id limit 1), ${tag} || n, '+1' || ${area}::int || (5550000 + n), 'Ann', array[${tag}],
          now(), now()
        from generate_series(1, ${count}::int) as n
      `.execute(app.server.database.queries);
      const query = { attribute: "tags", operator: "has_any", value: [tag] };
      return (await app.call(cohorts.create_cohort, { name: tag, query })).data;
    },

    approve: (template: Parameters<typeof templates.approve>[0]) => templates.approve(template),

    create: async (input: InputOf<typeof broadcasts.create_broadcast>) =>
      (await app.call(broadcasts.create_broadcast, input)).data,

    execute: async (id: string, options: { allow_partial?: boolean } = {}) =>
      (await app.call(broadcasts.execute_broadcast, { id, ...options })).data,

    get: async (id: string) => (await app.call(broadcasts.get_broadcast, { id })).data,

    recipients: async (id: string) => (await app.call(broadcasts.list_broadcast_recipients, { id })).data,

    /** Runs the dispatch, the delivery and the receipts. */
    async deliver() {
      for (let step = 0; step < 5; step += 1) {
        await app.advanceTime(1_000);
      }
    },
  };
}

/** Cancels a broadcast in a transaction that commits when `call` waits for it. */
export function cancelDuring(app: TestApp, id: string, call: () => Promise<unknown>): Promise<void> {
  const cancel = (tx: DatabaseTransaction) =>
    tx.updateTable("broadcasts").set({ execution_status: "cancelled" }).where("id", "=", id).execute();
  return commitWhenWaiting(app, cancel, [call]);
}

/** Numbers that no other test uses; `area` is of three digits. */
export function phoneNumbers(count: number, area: number): string[] {
  return Array.from({ length: count }, (_, index) => `+1${area}555${String(1000 + index)}`);
}
