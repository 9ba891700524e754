/**
 * Broadcasts and templates that were sent to a contact with values of that contact, for the test of erasure.
 */
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { cohorts } from "../../tools/cohorts/index.ts";
import { contacts } from "../../tools/contacts.ts";
import { messages } from "../../tools/messages/index.ts";
import type { TestApp } from "./app.ts";
import { setFaults } from "./simulator.ts";
import { createTemplateHelpers } from "./templates.ts";

interface Plan {
  readonly app: TestApp;
  readonly call: TestApp["call"];
  /** Of a known contact. */
  readonly number: string;
  marked(text: string): string;
}

/** A template message, and four broadcasts: sent, failed, cancelled, and not yet dispatched. */
export async function plantBroadcasts({ app, call, number, marked }: Plan): Promise<void> {
  const header = { type: "image", media_url: "https://example.com/sample.png" } as const;
  const template_data = { header, body: "Hello {{1}}, you live in {{2}} today." };
  const template = await createTemplateHelpers(app).approve({ name: "offer", template_data });
  const { id: contact } = (
    await call(contacts.upsert_contact, { phone_number: number, metadata: { city: marked("Bonn") } })
  ).data;
  await call(contacts.update_contact, { id: contact, opted_out: false, name: marked("Łucja") });
  await call(contacts.tag_contact, { id: contact, add: ["audience"] });
  await call(messages.send_message, {
    to: number,
    type: "template",
    template: {
      name: "offer",
      language: "en",
      variables: { "1": marked("one"), "2": marked("two") },
      header_media_url: `https://example.com/${encodeURIComponent(marked("header"))}.png`,
    },
  });
  const query = { attribute: "tags", operator: "has_any", value: ["audience"] };
  const { data: cohort } = await call(cohorts.create_cohort, { name: "Audience", query });
  const create = async () => {
    const variable_mapping = { "1": "name", "2": "metadata.city" };
    const input = { name: "Offer", cohort_id: cohort.id, template_id: template.id, variable_mapping };
    return (await call(broadcasts.create_broadcast, input)).data.id;
  };
  const execute = async (id: string) => void (await call(broadcasts.execute_broadcast, { id }));
  const sent = await create();
  await call(broadcasts.test_broadcast, { id: sent, to: number });
  await execute(sent);
  await app.advanceTime(1_000);
  await setFaults(app, { failures: [{ code: 131026, to: number }] });
  await execute(await create());
  await app.advanceTime(1_000);
  await setFaults(app, {});
  const cancelled = await create();
  await execute(cancelled);
  await call(broadcasts.cancel_broadcast, { id: cancelled });
  await execute(await create());
}
