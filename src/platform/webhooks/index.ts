/** Webhooks: who is told of message events, at which address, and how that went. */
import { fail, failField } from "../../../tools/errors.ts";
import { webhooks as contract } from "../../../tools/webhooks.ts";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { readPage } from "../../database/query/index.ts";
import { freshId, implement, seal, takeTurn } from "../kernel/index.ts";
import { deliver, outcomeOf, send } from "./deliver.ts";
import { countMissed, deliveriesOf, recover, replay, showDelivery } from "./deliveries.ts";
import { forgetEvents, recoverableDays } from "./forget.ts";
import { record } from "./record.ts";
import { newSigningSecret } from "./sign.ts";
import { readEvents } from "./stream.ts";
import { getWebhook, requireAddress, show } from "./subscriptions.ts";

const day = 24 * 3_600_000;

/** Every event is written down for each of them. */
const mostWebhooks = 100;

/** Shorter than a delivery's: whoever asks for a test waits half a minute for its answer. */
const testTimeoutMs = 25_000;

export const webhooks = implement(contract, {
  operations: {
    async create_webhook({ url, events, description = null }, context) {
      const { tx, world, organization, caller, now } = context;
      requireAddress(world, url);
      await requireRoom(tx, organization);
      const signing_secret = newSigningSecret();
      const row = await tx
        .insertInto("webhooks")
        .values({
          organization_id: organization,
          id: freshId(context, "whk"),
          url,
          events,
          description,
          secret: seal(world.secret, signing_secret),
          created_by: caller.acts_for,
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: { ...show(row), signing_secret } };
    },

    async list_webhooks(_, { db, organization }) {
      const rows = await db
        .selectFrom("webhooks")
        .selectAll()
        .where("organization_id", "=", organization)
        .orderBy("id", "desc")
        .execute();
      return { data: { webhooks: rows.map(show) } };
    },

    async get_webhook({ id }, { db, organization }) {
      return { data: show(await getWebhook(db, organization, id)) };
    },

    async update_webhook({ id, ...changes }, { tx, world, organization, now }) {
      await getWebhook(tx, organization, id);
      if (changes.url !== undefined) {
        requireAddress(world, changes.url);
      }
      // Switched on or off by hand, it begins anew: what the service knew of its failures is of the past.
      const health = changes.is_active === undefined ? {} : { disabled_reason: null, failing_since: null };
      return { data: show(await change(tx, { organization, id, now }, { ...changes, ...health })) };
    },

    async rotate_webhook_secret({ id }, { tx, world, organization, now }) {
      const { secret } = await getWebhook(tx, organization, id);
      const signing_secret = newSigningSecret();
      const row = await change(
        tx,
        { organization, id, now },
        {
          secret: seal(world.secret, signing_secret),
          previous_secret: secret,
          previous_secret_until: new Date(now.getTime() + day).toISOString(),
        },
      );
      return { data: { ...show(row), signing_secret } };
    },

    async test_webhook({ id }, { world, db, organization, now }) {
      const webhook = await getWebhook(db, organization, id);
      const event = {
        id: newId("evt_test", now),
        type: "message.received" as const,
        organization_id: organization,
        created_at: now.toISOString(),
        data: { test: true as const },
      };
      const told = { ...webhook, event_id: event.id, body: JSON.stringify(event) };
      const answer = await send(world, told, { timeoutMs: testTimeoutMs });
      const status_code = answer.outcome === "answered" ? answer.status : null;
      return { data: { delivered: outcomeOf(answer) === "delivered", status_code, event } };
    },

    // What waits for it in the queue finds no webhook, and its deliveries are forgotten with their events.
    async delete_webhook({ id }, { tx, organization }) {
      const { numDeletedRows } = await tx
        .deleteFrom("webhooks")
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .executeTakeFirst();
      if (!numDeletedRows) {
        throw fail("webhook_not_found");
      }
      return { data: { deleted: true as const } };
    },

    async list_webhook_deliveries({ id, status, ...paging }, { db, organization }) {
      await getWebhook(db, organization, id);
      const found = deliveriesOf(db, organization, id)
        .$if(status !== undefined, (query) => query.where("status", "=", status ?? "pending"))
        .orderBy("webhook_deliveries.event_id", "desc");
      const { rows, meta } = await readPage(found, paging);
      return { data: rows.map(showDelivery), meta };
    },

    async replay_webhook_delivery({ id, delivery_id }, { tx, world, organization, now }) {
      const { is_active } = await getWebhook(tx, organization, id);
      if (!is_active) {
        throw fail("webhook_inactive");
      }
      return { data: await replay(tx, world, { organization, webhook: id, event: delivery_id, now }) };
    },

    async recover_webhook_deliveries({ id, since }, { tx, world, organization, now }) {
      const { is_active } = await getWebhook(tx, organization, id);
      if (!is_active) {
        throw fail("webhook_inactive");
      }
      if (now.getTime() - Date.parse(since) > recoverableDays * day) {
        throw failField("since", "since_too_early", { limit: recoverableDays });
      }
      const recovery = { organization_id: organization, webhook_id: id, since };
      await world.jobs.enqueue(tx, { name: recover.name, payload: recovery, organization_id: organization });
      return { data: { recovering: await countMissed(tx, recovery, now) } };
    },

    async list_events({ after }, { db, organization }) {
      return { data: await readEvents(db, organization, after) };
    },
  },
  jobs: [deliver, recover, forgetEvents],
  record,
});

type Changes = Partial<{
  url: string;
  events: string[];
  description: string;
  is_active: boolean;
  disabled_reason: null;
  failing_since: null;
  secret: string;
  previous_secret: string;
  previous_secret_until: string;
}>;

async function change(
  tx: Transaction,
  { organization, id, now }: { organization: string; id: string; now: Date },
  changes: Changes,
) {
  return tx
    .updateTable("webhooks")
    .set({ ...changes, updated_at: now.toISOString() })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** One at a time, so that two at once do not both find the last place. @throws Failure `too_many_webhooks`. */
async function requireRoom(tx: Transaction, organization: string): Promise<void> {
  await takeTurn(tx, organization);
  const { count } = await tx
    .selectFrom("webhooks")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("organization_id", "=", organization)
    .executeTakeFirstOrThrow();
  if (count >= mostWebhooks) {
    throw fail("too_many_webhooks", { limit: mostWebhooks });
  }
}

export { newSigningSecret, sign } from "./sign.ts";
