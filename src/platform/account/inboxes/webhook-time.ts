/** When the provider last reported to the address of an inbox, so that a missing address is noticed. */
import { sql } from "kysely";
import { ofOrganization } from "../../../database/query/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import type { InboxAccount } from "./accounts.ts";

/** A busy inbox gets hundreds of requests a second; a person looks at this time once a day. */
const writeIntervalMs = 60_000;

/**
 * Records that a request with a valid signature has come, at most once a minute. The provider reports for
 * all accounts of an app to one address, so the time counts for each inbox with this app.
 */
export async function recordWebhook(
  world: World,
  { organization_id, channel, account, last_webhook_at }: InboxAccount & { readonly organization_id: string },
): Promise<void> {
  const now = world.now();
  const due = new Date(now.getTime() - writeIntervalMs);
  if (last_webhook_at !== null && new Date(last_webhook_at) > due) {
    return;
  }
  await world.database.transaction(async (tx) => {
    await ofOrganization(tx, organization_id)
      .updateTable("inboxes")
      .set({ last_webhook_at: now.toISOString() })
      .where("channel", "=", channel)
      .where("id", "in", inboxesOfApp(organization_id, account.app_id))
      .where(sql<boolean>`last_webhook_at is null or last_webhook_at <= ${due.toISOString()}`)
      .execute();
  });
}

function inboxesOfApp(organization_id: string, app_id: string) {
  return sql<string>`(
    select inbox_id from inbox_accounts where organization_id = ${organization_id} and app_id = ${app_id}
  )`;
}
