/** Inboxes: the organization's phone numbers and their settings. */
import { fail } from "../../tools/errors.ts";
import { type channels, inboxes as contract, InboxSettings } from "../../tools/inboxes.ts";
import type { Queries, Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import { implement, requireBelowQuota, type WriteContext } from "./kernel/index.ts";
import { normalizePhone, requireCountry } from "./phone/index.ts";

type ChannelName = (typeof channels)[number];

/** The platform on which contacts see the inbox. */
const platformOf: Readonly<Record<ChannelName, string>> = { simulator: "whatsapp" };

export const inboxes = implement(contract, {
  tables: ["inboxes"],
  operations: {
    async list_inboxes(_, { db, organization }) {
      const rows = await db
        .selectFrom("inboxes")
        .selectAll()
        .where("organization_id", "=", organization)
        .orderBy("id")
        .execute();
      return { data: rows.map(serializeInbox), meta: { total: rows.length } };
    },

    async create_inbox(input, context) {
      const { tx, organization, now } = context;
      await requireBelowQuota(context, "inboxes", tx.selectFrom("inboxes"));
      const { default_country: country } = input.settings;
      requireCountry(country, "settings.default_country");
      const number = { text: input.phone_number, field: "phone_number", country };
      const phone_number = await normalizePhone(tx, organization, number);
      const inbox = await insertInbox(tx, { ...input, organization, phone_number, now });
      if (!inbox) {
        const existing = await getInbox(tx, organization, phone_number);
        throw fail("inbox_exists", { existing_id: existing?.id, param: "phone_number" });
      }
      await setPace(context, inbox.id, input.settings);
      return { data: serializeInbox(inbox) };
    },

    async update_inbox({ id, name, settings }, context) {
      const { tx, organization, now } = context;
      requireCountry(settings?.default_country, "settings.default_country");
      const inbox = await tx
        .updateTable("inboxes")
        .set({
          name,
          settings: settings && JSON.stringify(settings),
          updated_at: now.toISOString(),
        })
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (!inbox) {
        throw fail("inbox_not_found");
      }
      if (settings) {
        await setPace(context, id, settings);
      }
      return { data: serializeInbox(inbox) };
    },
  },
});

/** The lane of an inbox's deliveries. */
export function laneOf(inbox_id: string): string {
  return `channel:${inbox_id}`;
}

async function setPace(
  { tx, world }: WriteContext,
  inbox_id: string,
  settings: InboxSettings,
): Promise<void> {
  await world.jobs.pace(tx, laneOf(inbox_id), settings.messages_per_second ?? null);
}

/** Inserts an inbox; undefined if the organization has one with this number (E.164). */
export async function insertInbox(
  tx: Transaction,
  inbox: {
    organization: string;
    name: string;
    channel: ChannelName;
    phone_number: string;
    settings: InboxSettings;
    now: Date;
  },
) {
  const { organization, name, channel, phone_number, settings, now } = inbox;
  return tx
    .insertInto("inboxes")
    .values({
      organization_id: organization,
      id: newId("inb", now),
      name,
      channel,
      platform: platformOf[channel],
      phone_number,
      settings: JSON.stringify(settings),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "phone_number"]).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** The organization's inbox with this number; without a number, its first inbox. */
export async function getInbox(db: Queries, organization: string, phone_number: string | null = null) {
  return db
    .selectFrom("inboxes")
    .selectAll()
    .where("organization_id", "=", organization)
    .$if(phone_number !== null, (query) => query.where("phone_number", "=", phone_number ?? ""))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** The inbox with this id; without an id, the first one. @throws Failure `inbox_not_found`, `no_inbox`. */
export async function getOrDefaultInbox(db: Queries, organization: string, id: string | undefined) {
  const inbox = await db
    .selectFrom("inboxes")
    .selectAll()
    .where("organization_id", "=", organization)
    .$if(id !== undefined, (query) => query.where("id", "=", id ?? ""))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!inbox) {
    throw id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  return inbox;
}

/** Whether free text outside the service window is rejected; otherwise (the simulator's default) it causes a warning. */
export function isWindowStrict(inbox: { channel: string; settings: Record<string, unknown> }): boolean {
  const rule = inbox.settings.service_window ?? (inbox.channel === "simulator" ? "advisory" : "strict");
  return rule === "strict";
}

function serializeInbox<Row extends { settings: Record<string, unknown> }>(row: Row) {
  return { ...row, settings: InboxSettings.parse(row.settings) };
}
