/** The rows of webhooks: how one is found, shown, and trusted with its secrets. */
import type { Selectable } from "kysely";
import { fail, failField } from "../../../tools/errors.ts";
import { webhookEvents } from "../../../tools/webhooks.ts";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import { secretsOf as appSecrets, unseal, type World } from "../kernel/index.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;

/** The sealed secrets of a webhook. */
export type Secrets = Pick<WebhookRow, "secret" | "previous_secret" | "previous_secret_until">;

/** @throws Failure `webhook_not_found`. */
export async function getWebhook(db: Queries, organization: string, id: string): Promise<WebhookRow> {
  const row = await db
    .selectFrom("webhooks")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) {
    throw fail("webhook_not_found");
  }
  return row;
}

/** As the contract has it. */
export function show(row: WebhookRow) {
  return { ...row, events: webhookEvents.filter((event) => row.events.includes(event)) };
}

/** With which signatures are made now: the current one and, for a day after a rotation, the one before. */
export function secretsOf(world: World, row: Secrets): [string, ...string[]] {
  const isKept =
    row.previous_secret_until !== null && Date.parse(row.previous_secret_until) > world.now().getTime();
  const previous =
    isKept && row.previous_secret !== null ? [unseal(appSecrets(world), row.previous_secret)] : [];
  return [unseal(appSecrets(world), row.secret), ...previous];
}

/** What can be told of an address without a look-up; the connection is judged again. */
export function requireAddress(world: World, url: string): void {
  const refusal = world.web.check(url);
  if (refusal) {
    throw failField("url", "webhook_address_refused", { reason: refusal.detail });
  }
}
