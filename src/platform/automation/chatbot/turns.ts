/** Stores turns: a question and the bot's reply. */

import { type Selectable, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, updateBatch } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { defineRetentionJob, type Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";
import type { Reply } from "./reply.ts";
import type { HistoryMessage } from "./responders/index.ts";

export type TurnRow = Selectable<Tables["chatbot_turns"]>;

/** How many earlier messages a reply takes into account. */
const maxHistory = 10;

interface NewTurn {
  readonly organization_id: string;
  readonly id: string;
  readonly conversation_id: string;
  readonly contact_id: string;
  readonly message_id: string | null;
  readonly question: string;
}

/** Inserts a turn that is to be answered. Returns false if the message has a turn already. */
export async function insertTurn(tx: Transaction, turn: NewTurn, now: Date): Promise<boolean> {
  const inserted = await tx
    .insertInto("chatbot_turns")
    .values({ ...turn, status: "pending", sources: "[]", found: "[]", created_at: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function findTurn(
  db: Queries,
  { organization_id, id }: Pick<TurnRow, "organization_id" | "id">,
): Promise<TurnRow | undefined> {
  return ofOrganization(db, organization_id)
    .selectFrom("chatbot_turns")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
}

/**
 * How a turn ends. A reply without a message was given to the caller of chat_with_bot, or could not be sent.
 */
export interface TurnEnd {
  readonly status: "answered" | "handed_off" | "skipped" | "covered";
  readonly reason: string | null;
  readonly reply?: Reply;
  readonly answer_message_id?: string;
}

export async function endTurn(
  tx: Transaction,
  { organization_id, id }: Pick<TurnRow, "organization_id" | "id">,
  { status, reason, reply, answer_message_id, now }: TurnEnd & { readonly now: Date },
): Promise<void> {
  const replied = reply && {
    answer: reply.text,
    sources: JSON.stringify(reply.sources),
    found: JSON.stringify(reply.found),
    agent_used: reply.agent_used,
    model: reply.model,
    input_tokens: reply.usage?.input_tokens ?? null,
    output_tokens: reply.usage?.output_tokens ?? null,
  };
  await ofOrganization(tx, organization_id)
    .updateTable("chatbot_turns")
    .set({
      status,
      reason,
      ...replied,
      answer_message_id: answer_message_id ?? null,
      ended_at: now.toISOString(),
    })
    .where("id", "=", id)
    .execute();
}

/**
 * The latest messages of a conversation that have a text, oldest first. With `before`, the id of a message,
 * only earlier messages.
 */
export async function readHistory(
  db: Queries,
  {
    organization,
    conversation_id,
    before,
  }: { organization: string; conversation_id: string; before?: string },
): Promise<readonly HistoryMessage[]> {
  const rows = await ofOrganization(db, organization)
    .selectFrom("messages")
    .select(["direction", "content"])
    .where("conversation_id", "=", conversation_id)
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .orderBy("id", "desc")
    .limit(maxHistory)
    .execute();
  return rows.reverse().flatMap(({ direction, content }) => {
    const text = messageTextOf(content);
    return text === "" ? [] : [{ from: direction === "inbound" ? "contact" : "business", text }];
  });
}

/** The text of a message: its body, its caption, the title of the chosen option, or its summary. */
export function messageTextOf({
  text,
  media,
  reply,
  summary,
}: Selectable<Tables["messages"]>["content"]): string {
  return (text?.body ?? media?.caption ?? reply?.title ?? summary ?? "").trim();
}

/** Turns are kept to check the bot's answers, and for the person who takes over. */
export const deleteOldTurnsJob = defineRetentionJob({
  name: "chatbot.forget",
  schedule: "27 * * * *",
  rules: [{ table: "chatbot_turns", column: "created_at", days: 90 }],
});

export async function eraseTurns(
  tx: Transaction,
  { organization_id, contact_id }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from chatbot_turns where organization_id = ${organization_id} and contact_id = ${contact_id}`;
  const update = sql`
    update chatbot_turns set question = '', answer = null, sources = '[]', found = '[]'
    where organization_id = ${organization_id} and id in (select id from batch)`;
  return updateBatch(tx, ids, { updates: [update], after });
}
