/** A broadcast for a benchmark: contacts, a cohort of all of them, an approved template, and the draft. */
import pg from "pg";
import type { Client } from "../../../src/client/index.ts";
import { broadcasts } from "../../../tools/broadcasts/index.ts";
import { cohorts } from "../../../tools/cohorts/index.ts";
import { templates } from "../../../tools/templates/index.ts";
import { fillOrganization } from "../fill-organization.ts";
import { pollUntil } from "../service.ts";

/** Fills the organization, and creates everything that the broadcast needs. @returns the id of the draft. */
export async function prepareBroadcast(
  client: Client,
  {
    url,
    organization,
    contacts,
  }: { readonly url: string; readonly organization: string; readonly contacts: number },
): Promise<string> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const amounts = { contacts, conversations: Math.ceil(contacts / 10), messagesEach: 10, messagesInFirst: 0 };
  await fillOrganization(database, organization, amounts);
  await database.query("analyze");
  await database.end();
  return createDraft(client);
}

/** @returns the id of a draft to all contacts. */
export async function createDraft(client: Client): Promise<string> {
  const { data: cohort } = await client.call(cohorts.create_cohort, { name: "Everyone", query: {} });
  const template = await approveTemplate(client);
  const { data } = await client.call(broadcasts.create_broadcast, {
    name: "Bench",
    cohort_id: cohort.id,
    template_id: template,
    variable_mapping: { "1": { attribute: "name", default: "there" } },
  });
  return data.id;
}

async function approveTemplate(client: Client): Promise<string> {
  const template_data = { body: "Hello {{1}}, our spring sale begins today." };
  const input = { name: "spring_sale", category: "marketing", template_data } as const;
  const { id } = (await client.call(templates.create_template, input)).data;
  await client.call(templates.submit_template, { id });
  await pollUntil(async () => (await client.call(templates.get_template, { id })).data.status === "approved");
  return id;
}
