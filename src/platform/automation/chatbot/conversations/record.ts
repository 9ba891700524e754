/** Gives messages of contacts to the bot, in the transaction that stores the messages. */
import { sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { columnOf, columnsOf, matchesKey, recordset, rowsOf } from "../../../../database/query/index.ts";
import type { EventRecorder } from "../../../foundation/kernel/index.ts";
import { createReceiveJob } from "./receive.ts";
import { isWithPerson, resumableReasons } from "./state.ts";

/**
 * Whether the bot gets a message of the contact. Reads rows of `chatbot_configs`, `conversations`,
 * `contacts`, `inboxes`, and `state`, which is the bot's part. The bot gets no messages of blocked contacts,
 * in spam or in conversations with an agent.
 */
const isForBot = sql`
  chatbot_configs.is_active and conversations.status <> 'spam' and conversations.assigned_to is null
  and contacts.blocked_at is null
  and (
    state.state = 'active'
    or inboxes.settings ->> 'chatbot' = 'true' and (state.state is null or state.ended_reason = any(${resumableReasons}::text[]))
      and not ${isWithPerson}
  )`;

const botJoins = sql`
  join chatbot_configs on chatbot_configs.organization_id = conversations.organization_id
  join contacts on contacts.organization_id = conversations.organization_id and contacts.id = conversations.contact_id
  join inboxes on inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
  left join chatbot_conversations as state on state.organization_id = conversations.organization_id
    and state.conversation_id = conversations.id`;

/** Whether the bot gets a message that the contact writes now. */
export async function isForBotIn(
  db: Queries,
  { organization, conversation_id }: { readonly organization: string; readonly conversation_id: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from conversations ${botJoins}
    where conversations.organization_id = ${organization} and conversations.id = ${conversation_id} and ${isForBot}
  `.execute(db);
  return rows.length > 0;
}

const receivedColumns = {
  ...columnsOf("messages", "organization_id", "conversation_id"),
  message_id: columnOf("messages", "id"),
  at: columnOf("messages", "created_at"),
};

const takenColumns = {
  organization_id: "text",
  conversation_id: "text",
  message_id: "text",
} as const;

/**
 * One statement for each transaction with such an event. The job has the key of the conversation's flows and
 * is enqueued after the jobs of the flows, so that a flow takes a message first.
 */
export const recordMessages: EventRecorder = async (tx, emissions) => {
  const received = emissions.flatMap(({ event }) =>
    event.type === "message.received" && "message_id" in event.data && "conversation_id" in event.data
      ? [
          {
            organization_id: event.organization_id,
            conversation_id: event.data.conversation_id,
            message_id: event.data.message_id,
            at: event.created_at,
          },
        ]
      : [],
  );
  if (received.length === 0) {
    return [];
  }
  const organizations = received.map(({ organization_id }) => organization_id);
  const conversations = received.map(({ conversation_id }) => conversation_id);
  const { rows } = await rowsOf(takenColumns)`
    with taken as (
      select received.*, conversations.contact_id, state.state
      from ${recordset("received", receivedColumns, received)}
      join conversations
        on ${matchesKey("conversations.organization_id", "received.organization_id", organizations)}
        and ${matchesKey("conversations.id", "received.conversation_id", conversations)}
      ${botJoins}
      where ${isForBot}
    ), begun as (
      insert into chatbot_conversations (organization_id, conversation_id, contact_id, state, started_by, since)
      select distinct on (organization_id, conversation_id) organization_id, conversation_id, contact_id, 'active', 'inbox', at
      from taken where state is distinct from 'active'
      order by organization_id, conversation_id, at
      on conflict (organization_id, conversation_id) do update
      set state = 'active', started_by = 'inbox', since = excluded.since, ended_at = null, ended_reason = null
    )
    select organization_id, conversation_id, message_id from taken order by message_id
  `.execute(tx);
  return rows.map(createReceiveJob);
};
