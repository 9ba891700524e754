/** Plans in a test: of messages and of broadcasts, and what became of them. */
import { sql } from "kysely";
import type { InputOf } from "../../tools/contract/index.ts";
import { plans } from "../../tools/plans.ts";
import type { TestApp } from "./app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./broadcasts.ts";
import { openPhone } from "./simulator.ts";

interface Reached {
  readonly contact_id: string;
  readonly to: string;
  readonly text: string;
}

export function createPlanHelpers(app: TestApp) {
  const { approve, create, createCohort, deliver, fillCohort } = createBroadcastHelpers(app);
  const draftFor = async (area: number, cohort_id: string) => {
    const template = await approve({
      name: `offer_${area}`,
      template_data: { body: "Hello {{1}}, we have an offer." },
    });
    const { id } = await create({
      name: `Offer ${area}`,
      cohort_id,
      template_id: template.id,
      variable_mapping: { "1": "name" },
    });
    return { id, template };
  };
  const plan = async (input: InputOf<typeof plans.plan_call>, key?: string) =>
    (await app.call(plans.plan_call, input, key === undefined ? {} : { key })).data;
  return {
    plan,
    deliver,
    planSend: (to: string, body: string) => plan({ tool: "send_message", input: { to, body } }),
    planBroadcast: (id: string) => plan({ operation: "execute_broadcast", input: { id } }),
    run: async (id: string, version?: number) => (await app.call(plans.run_plan, { id, version })).data,

    /** Does not wait until the plan is prepared. */
    runAtOnce: (id: string) => app.call(plans.run_plan, { id }, { maxRetryWaitMs: 0 }),

    read: async (id: string) => (await app.call(plans.get_plan, { id })).data,

    /** How many messages have arrived at the simulated channel, once all that can be sent has been. */
    async countAtChannel() {
      await deliver();
      const { count } = await app.server.database.queries
        .selectFrom("simulator_messages")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("direction", "=", "outbound")
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    /** The texts that a person got. */
    textsAt: async (number: string) =>
      (await openPhone(app, number).listMessages())
        .filter(({ direction }) => direction === "outbound")
        .map(({ text }) => text?.body),

    /** Creates a broadcast to contacts with names. */
    async draft(area: number, count = 3, fields: object = { name: "Ann" }) {
      const numbers = phoneNumbers(count, area);
      const { cohort, people } = await createCohort(numbers, fields);
      return { numbers, people, cohort, ...(await draftFor(area, cohort.id)) };
    },

    /** Creates a broadcast to many contacts, which no operation has created. */
    async draftMany(count: number, area: number) {
      const cohort = await fillCohort(count, area);
      return { cohort, ...(await draftFor(area, cohort.id)) };
    },

    /** Whom the plan names, and whom the broadcast writes to: the contacts with their numbers and texts. */
    async compare(plan_id: string, broadcast_id: string) {
      const { queries } = app.server.database;
      const [planned, sent] = await Promise.all([
        sql<Reached>`
          select contact_id, "to", text from plan_targets where plan_id = ${plan_id} and reason is null
          order by contact_id
        `.execute(queries),
        sql<Reached>`
          select contact_id, "to", 'Hello ' || (variables ->> '1') || ', we have an offer.' as text
          from broadcast_recipients where broadcast_id = ${broadcast_id} and status <> 'excluded'
          order by contact_id
        `.execute(queries),
      ]);
      return { planned: planned.rows, sent: sent.rows };
    },
  };
}
