/** Plans in a test: of messages and of broadcasts, and what became of them. */
import type { InputOf } from "../../tools/contract/index.ts";
import { plans } from "../../tools/plans.ts";
import type { TestApp } from "./app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./broadcasts.ts";
import { openPhone } from "./simulator.ts";

export function createPlanHelpers(app: TestApp) {
  const { approve, create, createCohort, deliver } = createBroadcastHelpers(app);
  const plan = async (input: InputOf<typeof plans.plan_call>, key?: string) =>
    (await app.call(plans.plan_call, input, key === undefined ? {} : { key })).data;
  return {
    plan,
    deliver,
    planSend: (to: string, body: string) => plan({ tool: "send_message", input: { to, body } }),
    planBroadcast: (id: string) => plan({ operation: "execute_broadcast", input: { id } }),
    run: async (id: string) => (await app.call(plans.run_plan, { id })).data,
    read: async (id: string) => (await app.call(plans.get_plan, { id })).data,

    /** The texts that a person got. */
    textsAt: async (number: string) =>
      (await openPhone(app, number).listMessages())
        .filter(({ direction }) => direction === "outbound")
        .map(({ text }) => text?.body),

    /** Creates a broadcast to contacts with names. */
    async draft(area: number, count = 3, fields: object = { name: "Ann" }) {
      const numbers = phoneNumbers(count, area);
      const { cohort, people } = await createCohort(numbers, fields);
      const template = await approve({
        name: `offer_${area}`,
        template_data: { body: "Hello {{1}}, we have an offer." },
      });
      const { id } = await create({
        name: `Offer ${area}`,
        cohort_id: cohort.id,
        template_id: template.id,
        variable_mapping: { "1": "name" },
      });
      return { id, numbers, people, cohort, template };
    },
  };
}
