/** Another organization in the same house, with one of everything: what nobody else may reach. */
import { newId } from "../../src/database/id.ts";
import { insertKey } from "../../src/platform/api-keys.ts";
import { createOrganization } from "../../src/platform/bootstrap.ts";
import { apiKeys } from "../../tools/api-keys.ts";
import { messages } from "../../tools/messages.ts";
import { allScopes } from "../../tools/scopes.ts";
import { webhooks } from "../../tools/webhooks.ts";
import type { House } from "./house.ts";
import { phone } from "./simulator.ts";

export interface Neighbour {
  readonly key: string;
  readonly organization_id: string;
  readonly contact_id: string;
  readonly conversation_id: string;
  readonly message_id: string;
  readonly api_key_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
}

export async function moveIn(house: House): Promise<Neighbour> {
  const now = house.now();
  const key = `sk_live_${"n".repeat(43)}`;
  const organization = newId("org", now);
  await house.app.database.transaction(async (tx) => {
    await createOrganization(tx, { id: organization, name: "Neighbour", now });
    await insertKey(tx, {
      organization,
      name: "key",
      secret_key: key,
      scopes: allScopes,
      created_by: null,
      now,
    });
  });
  const input = { to: "+14155550198", type: "text", text: { body: "private" } } as const;
  const { data: message } = await house.call(messages.send_message, input, { key });
  const { data: apiKey } = await house.call(
    apiKeys.create_api_key,
    { name: "theirs", scopes: ["contacts:read"] },
    { key },
  );
  const webhook = await holdAnEvent(house, key);
  const contact = await house.app.database.queries
    .selectFrom("contacts")
    .select("id")
    .where("organization_id", "=", organization)
    .executeTakeFirstOrThrow();
  return {
    key,
    organization_id: organization,
    contact_id: contact.id,
    conversation_id: message.conversation_id,
    message_id: message.id,
    api_key_id: apiKey.id,
    ...webhook,
  };
}

/** A webhook that is off, so that nobody is sent anything, with a delivery that is held for it. */
async function holdAnEvent(house: House, key: string) {
  const input = { url: "https://hooks.example.com/", events: ["message.received" as const] };
  const { data: webhook } = await house.call(webhooks.create_webhook, input, { key });
  const id = webhook.id;
  await house.call(webhooks.update_webhook, { id, is_active: false }, { key });
  await phone(house, "+14155550198", key).write("private");
  const { data } = await house.call(webhooks.list_webhook_deliveries, { id }, { key });
  return { webhook_id: id, delivery_id: data[0]?.id ?? "" };
}
