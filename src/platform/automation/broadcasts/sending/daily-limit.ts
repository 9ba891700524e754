/**
 * What a broadcast may still send in a moving 24 hours, by the setting of its inbox and the limit of the
 * channel.
 */
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import { lowestId } from "../../../../database/id.ts";
import { onlyRow, rowsOf } from "../../../../database/query/index.ts";
import type { InboxNumberLimits } from "../../../../database/schema/index.ts";
import { inboxesOfBusiness } from "../../../account/inboxes/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

const dayMs = 24 * 3_600_000;

interface LimitedInbox {
  readonly organization_id: string;
  readonly id: string;
  readonly settings: Record<string, unknown>;
  readonly limits: InboxNumberLimits | null;
}

export interface DailyLimit {
  /** Messages in 24 hours. */
  readonly limit: number;
  /** How many messages may be sent now. */
  readonly left: number;
}

interface Day {
  readonly inbox: LimitedInbox;
  /** The inboxes whose messages count. */
  readonly ids: readonly string[];
  /**
   * The id of the first message that counts: ids sort by time, so that only messages of the last day are
   * read.
   */
  readonly since: string;
}

/** Returns null if the inbox has no limit. */
export async function leftToday(tx: Transaction, inbox: LimitedInbox, now: Date): Promise<DailyLimit | null> {
  const { daily_limit } = InboxSettings.parse(inbox.settings);
  const messaging_limit = inbox.limits?.messaging_limit ?? null;
  if (daily_limit === undefined && messaging_limit === null) {
    return null;
  }
  const since = lowestId("msg", new Date(now.getTime() - dayMs));
  const day = { inbox, ids: await lockInboxes(tx, inbox), since };
  const limits = [
    daily_limit === undefined ? [] : toLimit(daily_limit, await countMessages(tx, day)),
    messaging_limit === null ? [] : toLimit(messaging_limit, await countPersons(tx, day)),
  ].flat();
  return {
    limit: Math.min(...limits.map(({ limit }) => limit)),
    left: Math.min(...limits.map(({ left }) => left)),
  };
}

const toLimit = (limit: number, used: number): DailyLimit => ({ limit, left: Math.max(0, limit - used) });

/**
 * This inbox and the others of its business at the channel: two broadcasts must not both use what is left.
 */
async function lockInboxes(tx: Transaction, { organization_id, id }: LimitedInbox): Promise<string[]> {
  const { rows } = await rowsOf({ id: "text" })`
    select id from inboxes
    where organization_id = ${organization_id}
      and (id = ${id} or id in (${inboxesOfBusiness({ organization_id, inbox_id: id })}))
    order by id for no key update
  `.execute(tx);
  return rows.map((row) => row.id);
}

/** Counts the messages of broadcasts from this inbox. */
async function countMessages(tx: Transaction, { inbox, since }: Day): Promise<number> {
  const { rows } = await rowsOf({ count: "bigint" })`
    select count(*) as count
    from broadcasts join messages
      on messages.organization_id = broadcasts.organization_id and messages.broadcast_id = broadcasts.id
    where broadcasts.organization_id = ${inbox.organization_id} and broadcasts.inbox_id = ${inbox.id}
      and messages.id >= ${since}
  `.execute(tx);
  return onlyRow(rows).count;
}

/**
 * Counts the people who got a template from one of these inboxes outside their window. A person who has
 * written since counts too, because it is not known whether the window was open before.
 */
async function countPersons(tx: Transaction, { inbox, ids, since }: Day): Promise<number> {
  const { rows } = await rowsOf({ count: "bigint" })`
    select count(distinct conversations.contact_id) as count
    from messages join conversations
      on conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
    where messages.organization_id = ${inbox.organization_id} and messages.id >= ${since}
      and messages.type = 'template' and messages.status <> 'failed' and conversations.inbox_id = any(${ids}::text[])
      and (
        conversations.last_user_message_at is null
        or conversations.last_user_message_at not between messages.created_at - interval '24 hours' and messages.created_at
      )
  `.execute(tx);
  return onlyRow(rows).count;
}
