/** Webhooks: subscriptions to events, their deliveries, and the list of recorded events. */

import { fail, failField } from "../../../../tools/errors.ts";
import { readEventTypes, scopesOfEvents } from "../../../../tools/events.ts";
import { webhooks as contract } from "../../../../tools/webhooks.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import type { SealedText } from "../../../database/schema/index.ts";
import { newJob } from "../../../jobs/job.ts";
import { countLocked } from "../../account/organization/index.ts";
import {
  freshId,
  implement,
  requireScope,
  type Transaction,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { newSigningSecret, seal } from "../../foundation/sealing/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { deliverWebhookJob } from "./deliver.ts";
import {
  countMissed,
  deliveriesOf,
  lockDelivery,
  recoverDeliveriesJob,
  replayDelivery,
  serializeDelivery,
} from "./deliveries.ts";
import { eraseEvents } from "./erase.ts";
import { eventStreamRoute, presenceRoute, readEvents, recordPolled } from "./reading/index.ts";
import { recordEvents } from "./record-events.ts";
import { deleteOldEventsJob, recoverableDays } from "./retention.ts";
import { getWebhook, requireAllowedUrl, sealedWebhookSecrets, serializeWebhook } from "./subscriptions.ts";
import { testWebhook } from "./test-webhook.ts";

export { failWaitingDeliveries } from "./deliveries.ts";

const day = 24 * 3_600_000;

export const webhooks = implement(contract, {
  tables: ["webhooks", "events", "webhook_deliveries", "polled_events", "presences"],
  sealed: sealedWebhookSecrets,
  operations: {
    async create_webhook({ url, events, description = null }, context) {
      const { tx, world, organization, caller, now } = context;
      requireScope(caller, { all: scopesOfEvents(events) });
      requireAllowedUrl(world, url);
      await requireCapacity(context);
      const signing_secret = newSigningSecret();
      const row = await tx
        .insertInto("webhooks")
        .values({
          organization_id: organization,
          id: freshId(context, "whk"),
          url,
          events,
          description,
          secret: seal(world, signing_secret),
          created_by: caller.acts_for,
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: { ...serializeWebhook(row), signing_secret } };
    },

    async list_webhooks(_, { db, organization }) {
      const rows = await ofOrganization(db, organization)
        .selectFrom("webhooks")
        .selectAll()
        .orderBy("id", "desc")
        .execute();
      return { data: { webhooks: rows.map(serializeWebhook) } };
    },

    async get_webhook({ id }, { db, organization }) {
      return { data: serializeWebhook(await getWebhook(db, organization, id)) };
    },

    async update_webhook({ id, ...changes }, { tx, world, organization, caller, now }) {
      const { events } = serializeWebhook(await getWebhook(tx, organization, id));
      // Also required for a new address, because it receives the data of the events.
      requireScope(caller, { all: scopesOfEvents(changes.events ?? events) });
      if (changes.url !== undefined) {
        requireAllowedUrl(world, changes.url);
      }
      // Switching on or off manually resets the record of earlier failures.
      const health = changes.is_active === undefined ? {} : { disabled_reason: null, failing_since: null };
      return {
        data: serializeWebhook(await updateWebhook(tx, { organization, id, now }, { ...changes, ...health })),
      };
    },

    async rotate_webhook_secret({ id }, { tx, world, organization, now }) {
      const { secret } = await getWebhook(tx, organization, id);
      const signing_secret = newSigningSecret();
      const row = await updateWebhook(
        tx,
        { organization, id, now },
        {
          secret: seal(world, signing_secret),
          previous_secret: secret,
          previous_secret_until: new Date(now.getTime() + day).toISOString(),
        },
      );
      return { data: { ...serializeWebhook(row), signing_secret } };
    },

    test_webhook: testWebhook,

    // Queued jobs find no webhook and end. The deliveries are deleted with their events.
    async delete_webhook({ id }, { tx, organization }) {
      const { numDeletedRows } = await ofOrganization(tx, organization)
        .deleteFrom("webhooks")
        .where("id", "=", id)
        .executeTakeFirst();
      if (!numDeletedRows) {
        throw fail("webhook_not_found");
      }
      return { data: { deleted: true as const } };
    },

    async list_webhook_deliveries({ id, status, ...paging }, { db, organization }) {
      await getWebhook(db, organization, id);
      const query = deliveriesOf(db, organization, id)
        .$if(status !== undefined, (rows) => rows.where("status", "=", status ?? "pending"))
        .orderBy("webhook_deliveries.event_id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map(serializeDelivery), meta };
    },

    async replay_webhook_delivery({ id, delivery_id }, { tx, organization, now }) {
      await getWebhook(tx, organization, id);
      await lockDelivery(tx, organization, { webhook: id, event: delivery_id });
      await requireActive(tx, organization, id);
      return {
        data: await replayDelivery(tx, { organization, webhook: id, event: delivery_id, now }),
      };
    },

    async recover_webhook_deliveries({ id, since }, { tx, organization, now }) {
      await requireActive(tx, organization, id);
      if (now.getTime() - Date.parse(since) > recoverableDays * day) {
        throw failField("since", "since_too_early", { limit: recoverableDays });
      }
      const recovery = { organization_id: organization, webhook_id: id, since };
      await tx.enqueue([newJob(recoverDeliveriesJob, recovery)]);
      return { data: { recovering: await countMissed(tx, recovery, now) } };
    },

    async list_events({ types: listed, ...start }, context) {
      const { world, organization, caller, now } = context;
      const types = readEventTypes(listed);
      requireScope(caller, { all: scopesOfEvents(types) });
      await recordPolled(world, organization, { types, now });
      return readEvents(context, { ...start, types });
    },
  },
  jobs: [deliverWebhookJob, recoverDeliveriesJob, deleteOldEventsJob],
  recordEvents,
  routes: [eventStreamRoute, presenceRoute],
  erase: erasesContact({ later: [eraseEvents] }),
});

type Changes = Partial<{
  url: string;
  events: string[];
  description: string;
  is_active: boolean;
  disabled_reason: null;
  failing_since: null;
  secret: SealedText;
  previous_secret: SealedText;
  previous_secret_until: string;
}>;

async function updateWebhook(
  tx: Transaction,
  { organization, id, now }: { organization: string; id: string; now: Date },
  changes: Changes,
) {
  return ofOrganization(tx, organization)
    .updateTable("webhooks")
    .set({ ...changes, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @throws Failure `webhook_not_found`, `webhook_inactive`. */
async function requireActive(tx: Transaction, organization: string, id: string): Promise<void> {
  const { is_active } = await getWebhook(tx, organization, id);
  if (!is_active) {
    throw fail("webhook_inactive");
  }
}

/**
 * Each event is stored once for every webhook that subscribes to it.
 * @throws Failure `too_many_webhooks`.
 */
async function requireCapacity(context: WriteContext): Promise<void> {
  const { count, limit } = await countLocked(context, "webhooks", context.tx.selectFrom("webhooks"));
  if (count >= limit) {
    throw fail("too_many_webhooks", { limit });
  }
}
