/** The messages of the receipts benchmark: storing them, creating their receipts, and checking the result. */
import { sql } from "kysely";
import type { Database, Queries } from "../../../src/database/database.ts";
import type { NewJob } from "../../../src/jobs/job.ts";
import type { Receipt } from "../../../src/ports/channel/channel.ts";

/**
 * The outbound messages 1 to `count`. Every twentieth message is queued: its receipts arrive before its
 * channel id.
 */
export interface Messages {
  readonly organization_id: string;
  readonly inbox_id: string;
  readonly count: number;
  /** Message n was created n times 10 ms after this time. */
  readonly since: number;
}

const earlyEvery = 20;
const messagesPerConversation = 10;
/** The statuses of the receipts of each message. */
const types = ["sent", "delivered", "read"] as const;
const stepMs = 1_000;

export const isEarly = (number: number) => number % earlyEvery === 0;
export const channelIdOf = (number: number) => `wamid.${number}`;

export function idOf(prefix: string, number: number): string {
  return `${prefix}_${number.toString(16).padStart(26, "0")}`;
}

export function numberOf(id: string): number {
  return Number.parseInt(id.slice(id.indexOf("_") + 1), 16);
}

export async function fillMessages(database: Database, count: number): Promise<Messages> {
  const { queries } = database;
  const inbox = await queries
    .selectFrom("inboxes")
    .select(["organization_id", "id"])
    .executeTakeFirstOrThrow();
  const { organization_id } = inbox;
  // A recent time, because a queued message that is older than a day expires.
  const since = Date.now() - 3_600_000;
  const start = new Date(since).toISOString();
  const conversations = Math.ceil(count / messagesPerConversation);
  await sql`
    insert into contacts (organization_id, id, phone_number, created_at, updated_at)
    select ${organization_id}, 'con_' || lpad(to_hex(n), 26, '0'), '+1415' || 5000000 + n, ${start}::timestamptz,
      ${start}::timestamptz
    from generate_series(0, ${conversations}::int) as n`.execute(queries);
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, created_at, updated_at)
    select ${organization_id}, 'conv_' || lpad(to_hex(n), 26, '0'), ${inbox.id},
      'con_' || lpad(to_hex(n), 26, '0'), 'open', ${start}::timestamptz, ${start}::timestamptz
    from generate_series(0, ${conversations}::int) as n`.execute(queries);
  await sql`
    insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status,
      channel_message_id, claimed_at, sent_at, created_at)
    select ${organization_id}, 'msg_' || lpad(to_hex(n), 26, '0'),
      'conv_' || lpad(to_hex(n / ${messagesPerConversation}::int), 26, '0'), 'outbound', 'text',
      jsonb_build_object('text', jsonb_build_object('body', 'Message number ' || n)), '+14155550100',
      '+1415' || 5000000 + n / ${messagesPerConversation}::int,
      case when is_early then 'queued' else 'sent' end, case when not is_early then 'wamid.' || n end,
      case when not is_early then at end, case when not is_early then at end, at
    from (
      select n, n % ${earlyEvery}::int = 0 as is_early, ${start}::timestamptz + n * interval '10 milliseconds' as at
      from generate_series(1, ${count}::int) as n
    ) as made`.execute(queries);
  await sql`analyze`.execute(queries);
  return { organization_id, inbox_id: inbox.id, count, since };
}

/** The jobs that deliver the queued messages. */
export function deliveryJobs({ organization_id, inbox_id, count }: Messages): NewJob[] {
  return range(count)
    .filter(isEarly)
    .map((number) => {
      const conversation = idOf("conv", Math.floor(number / messagesPerConversation));
      return {
        name: "message.deliver",
        organization_id,
        lane: `channel:${inbox_id}`,
        key: conversation,
        subject: conversation,
        payload: { organization_id, message_id: idOf("msg", number) },
      };
    });
}

/**
 * The receipts of all messages in random order, one in ten of them twice. Half of them, and all that arrive
 * before the channel id of their message, have only the channel's id.
 */
export function createReceipts({ organization_id, count, since }: Messages, random: () => number): Receipt[] {
  const receipts = range(count).flatMap((number) =>
    types.flatMap((type, step) => {
      const receipt: Receipt = {
        organization_id,
        type,
        failure: null,
        channel_message_id: channelIdOf(number),
        token: isEarly(number) || random() < 0.5 ? null : idOf("msg", number),
        occurred_at: new Date(since + number * 10 + (step + 1) * stepMs).toISOString(),
      };
      return random() < 0.1 ? [receipt, receipt] : [receipt];
    }),
  );
  return shuffle(receipts, random);
}

/** The number of faults of each kind at the end; all zero if every receipt had its effect once. */
export async function countFaults(
  queries: Queries,
  { count }: Messages,
): Promise<Readonly<Record<string, number>>> {
  const early = Math.floor(count / earlyEvery);
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from messages where status <> 'read') as "not read",
      (select count(*) from messages where
        sent_at is distinct from created_at + interval '1 second'
        or delivered_at is distinct from created_at + interval '2 seconds'
        or read_at is distinct from created_at + interval '3 seconds') as "with a wrong time",
      (select count(*) from messages where channel_message_id is distinct from 'wamid.' || ('x' || right(id, 8))::bit(32)::int)
        as "with a wrong channel id",
      (select count(*) from parked_receipts) as "receipts still parked",
      (select abs(count(*) - ${3 * count}::int) from message_receipts) as "receipts lost or doubled",
      (select abs(count(*) filter (where type = 'message.sent') - ${early}::int)
        + abs(count(*) filter (where type = 'message.delivered') - ${count}::int)
        + abs(count(*) filter (where type = 'message.read') - ${count}::int) from events) as "events lost or doubled"
  `.execute(queries);
  return rows[0] ?? {};
}

/** 1 to `count`. */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function shuffle<Item>(items: Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
