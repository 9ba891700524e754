/** Reads and serializes the rows of webhooks, and their signing secrets. */
import { type Selectable, sql } from "kysely";
import { fail, failField } from "../../../../tools/errors.ts";
import { webhookEvents } from "../../../../tools/webhooks.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { newSigningSecret, type SealedColumn, unseal } from "../../foundation/sealing/index.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;

/** The sealed secrets of a webhook. */
export type SealedSecrets = Pick<WebhookRow, "secret" | "previous_secret" | "previous_secret_until">;

/**
 * A webhook whose secret is lost gets a new secret, which no receiver knows: its deliveries fail until the
 * secret is rotated, and are then retried.
 */
export const sealedWebhookSecrets: readonly SealedColumn[] = [
  { table: "webhooks", column: "secret", key: ["organization_id", "id"], whenLost: newSigningSecret },
  {
    table: "webhooks",
    column: "previous_secret",
    key: ["organization_id", "id"],
    rows: (now) => sql`previous_secret_until > ${now.toISOString()}`,
    whenLost: "clear",
  },
];

/** @throws Failure `webhook_not_found`. */
export async function getWebhook(db: Queries, organization: string, id: string): Promise<WebhookRow> {
  const row = await ofOrganization(db, organization)
    .selectFrom("webhooks")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) {
    throw fail("webhook_not_found");
  }
  return row;
}

/** A webhook as the contract shows it, with its events in the catalogue's order. */
export function serializeWebhook(row: WebhookRow) {
  return { ...row, events: webhookEvents.filter((event) => row.events.includes(event)) };
}

/** The secrets to sign with: the current secret and, for a day after a rotation, the previous secret. */
export function signingSecrets(world: World, row: SealedSecrets): [string, ...string[]] {
  const { secret, previous_secret, previous_secret_until } = row;
  const isPreviousValid =
    previous_secret_until !== null && Date.parse(previous_secret_until) > world.now().getTime();
  const previous = isPreviousValid && previous_secret !== null ? [unseal(world, previous_secret)] : [];
  return [unseal(world, secret), ...previous];
}

/**
 * Checks an address as far as possible without a DNS lookup; the connection is checked again when it is
 * opened.
 * @throws Failure `webhook_address_refused`.
 */
export function requireAllowedUrl(world: World, url: string): void {
  const error = world.receivers.check(url);
  if (error) {
    throw failField("url", "webhook_address_refused", { reason: error.detail });
  }
}
