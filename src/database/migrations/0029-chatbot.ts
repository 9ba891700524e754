/** The chatbot's configuration, the conversations that it has, and its turns. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table chatbot_configs (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text,
    graph jsonb not null,
    is_active boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id)
  )`,

  // A conversation without a row has never been the bot's.
  `create table chatbot_conversations (
    organization_id text collate "C" not null,
    conversation_id text collate "C" not null,
    contact_id text collate "C" not null,
    -- active: the bot answers. ended: it does not, until the conversation is given to it again.
    state text not null,
    started_by text not null,
    since timestamptz not null,
    ended_at timestamptz,
    ended_reason text,
    primary key (organization_id, conversation_id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id)
  )`,

  `create table chatbot_turns (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    conversation_id text collate "C" not null,
    contact_id text collate "C" not null,
    -- The contact's message; null for a question of chat_with_bot.
    message_id text collate "C",
    -- pending: to be answered. The others are final. covered: a later message was answered instead.
    status text not null,
    reason text,
    question text not null,
    answer text,
    answer_message_id text collate "C",
    -- What the answer is from, and what the search had found.
    sources jsonb not null,
    found jsonb not null,
    agent_used text,
    -- Null for an answer that is quoted.
    model text,
    input_tokens integer,
    output_tokens integer,
    created_at timestamptz not null,
    ended_at timestamptz,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id)
  )`,
  // Each message has one turn.
  `create unique index chatbot_turns_message on chatbot_turns (organization_id, conversation_id, message_id)
    where message_id is not null`,
  "create index chatbot_turns_conversation on chatbot_turns (organization_id, conversation_id, id)",
  "create index chatbot_turns_contact on chatbot_turns (organization_id, contact_id, id)",
  "create index chatbot_turns_created on chatbot_turns (created_at)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
