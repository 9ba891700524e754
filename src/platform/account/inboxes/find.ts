/** Finds and inserts inboxes. */
import { fail } from "../../../../tools/errors.ts";
import type { InboxSettings } from "../../../../tools/inboxes.ts";
import type { DatabaseTransaction, Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { InboxNumberLimits } from "../../../database/schema/index.ts";
import type { Change } from "../../foundation/kernel/index.ts";
import { capabilitiesOf, channelsThat } from "./channel.ts";

/** The lane of an inbox's deliveries. */
export function laneOf(inbox_id: string): string {
  return `channel:${inbox_id}`;
}

/** Inserts an inbox; undefined if the organization has one with this number (E.164). */
export async function insertInbox(
  tx: DatabaseTransaction,
  inbox: {
    readonly id?: string;
    readonly organization: string;
    readonly name: string;
    readonly channel: string;
    /** Where contacts see it. */
    readonly platform: string;
    readonly phone_number: string;
    readonly settings: InboxSettings;
    readonly limits?: InboxNumberLimits | undefined;
    readonly now: Date;
  },
) {
  const { organization, name, channel, platform, phone_number, settings, now } = inbox;
  return tx
    .insertInto("inboxes")
    .values({
      organization_id: organization,
      id: inbox.id ?? newId("inb", now),
      name,
      channel,
      platform,
      phone_number,
      settings: JSON.stringify(settings),
      ...(inbox.limits && { limits: JSON.stringify(inbox.limits) }),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "phone_number"]).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** @throws Failure `inbox_not_found`. */
export async function getInboxById(db: Queries, organization: string, id: string) {
  const inbox = await ofOrganization(db, organization)
    .selectFrom("inboxes")
    .select(["channel", "phone_number"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!inbox) {
    throw fail("inbox_not_found");
  }
  return inbox;
}

interface InboxFilter {
  readonly phone_number?: string | null;
  readonly channel?: string;
}

/** The organization's inbox with this number and channel; without a number, its first one. */
export async function getInbox(
  db: Queries,
  organization: string,
  { phone_number = null, channel }: InboxFilter = {},
) {
  return ofOrganization(db, organization)
    .selectFrom("inboxes")
    .selectAll()
    .$if(phone_number !== null, (query) => query.where("phone_number", "=", phone_number ?? ""))
    .$if(channel !== undefined, (query) => query.where("channel", "=", channel ?? ""))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/**
 * The inbox with this id; without an id, the organization's first inbox.
 * @throws Failure `inbox_not_found`, `no_inbox`.
 */
export async function getOrDefaultInbox(db: Queries, organization: string, id: string | undefined) {
  const inbox = await ofOrganization(db, organization)
    .selectFrom("inboxes")
    .selectAll()
    .$if(id !== undefined, (query) => query.where("id", "=", id ?? ""))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!inbox) {
    throw id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  return inbox;
}

/**
 * Whether an inbox is simulated, and its organization also has a real one. What happens there changes nothing
 * that the channels share: a key can write in the name of any contact.
 */
export async function isSimulatedBesideReal(
  { tx, world }: Pick<Change, "tx" | "world">,
  { organization_id, channel }: { readonly organization_id: string; readonly channel: string },
): Promise<boolean> {
  if (!capabilitiesOf(world, { channel }).isSimulated) {
    return false;
  }
  const real = channelsThat(world, ({ isSimulated }) => !isSimulated);
  const found = await ofOrganization(tx, organization_id)
    .selectFrom("inboxes")
    .select("id")
    .where(({ eb, fn, val }) => eb("channel", "=", fn.any(val(real))))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
