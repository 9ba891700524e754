/** Notes: internal texts of a conversation. No channel, template or bot reads them. */

import { type RawBuilder, sql } from "kysely";
import { notes as contract } from "../../../tools/notes.ts";
import type { Queries } from "../../database/database.ts";
import { columnsOf, ofOrganization, readPage, rowsOf, updateBatch } from "../../database/query/index.ts";
import {
  freshId,
  implement,
  type OrganizationChange,
  recordOf,
  type Transaction,
} from "../foundation/kernel/index.ts";
import { type ErasedContact, erasesContact } from "./contacts/index.ts";
import { requireActive, requireConversation } from "./conversations/index.ts";

export const notes = implement(contract, {
  tables: ["conversation_notes"],
  operations: {
    async add_note(input, context) {
      return { data: await addNote(context, input) };
    },

    async list_notes({ conversation_id, ...paging }, { db, organization }) {
      await requireConversation(db, organization, conversation_id);
      const query = ofOrganization(db, organization)
        .selectFrom("conversation_notes")
        .selectAll()
        .where("conversation_id", "=", conversation_id)
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows, meta };
    },
  },
  erase: erasesContact({ later: [eraseNotes] }),
});

interface NewNote {
  readonly conversation_id: string;
  readonly text: string;
  /** The ids of users. */
  readonly mentions?: readonly string[];
}

/**
 * Changes nothing else of the conversation: a note is no answer.
 * @throws Failure `conversation_not_found`, `user_not_found`, `user_inactive`.
 */
export async function addNote(
  { tx, organization, actor, now }: OrganizationChange,
  { conversation_id, text, mentions = [] }: NewNote,
) {
  // Locked, so that an erasure of the contact finds every note.
  await requireConversation(tx, organization, conversation_id, { locks: true });
  for (const user of mentions) {
    await requireActive({ db: tx, organization }, user, "mentions");
  }
  const author = recordOf(actor);
  const note = await tx
    .insertInto("conversation_notes")
    .values({
      organization_id: organization,
      id: freshId({ now }, "note"),
      conversation_id,
      text,
      author: JSON.stringify(author),
      mentions: [...new Set(mentions)],
      created_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const { id: note_id, created_at } = note;
  const data = { note_id, conversation_id, text, author, mentions: note.mentions, created_at };
  tx.emit({ type: "note.created", organization_id: organization, order: conversation_id, data });
  return note;
}

/** The latest notes of a conversation, oldest first. */
export async function readLatestNotes(
  db: Queries,
  { organization, conversation_id, limit }: { organization: string; conversation_id: string; limit: number },
) {
  const rows = await ofOrganization(db, organization)
    .selectFrom("conversation_notes")
    .selectAll()
    .where("conversation_id", "=", conversation_id)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.reverse();
}

/** The latest note of each of these conversations, by conversation. */
export async function findLatestNotes(
  db: Queries,
  { organization, conversation_ids }: { organization: string; conversation_ids: readonly string[] },
) {
  const { rows } = await rowsOf(
    columnsOf("conversation_notes", "conversation_id", "text", "author", "mentions", "created_at"),
  )`
    select wanted.conversation_id, latest.text, latest.author, latest.mentions, latest.created_at
    from unnest(${conversation_ids}::text[]) as wanted (conversation_id)
    cross join lateral (
      select text, author, mentions, created_at from conversation_notes
      where organization_id = ${organization} and conversation_id = wanted.conversation_id
      order by id desc limit 1
    ) as latest
  `.execute(db);
  return new Map(rows.map(({ conversation_id, ...note }) => [conversation_id, note]));
}

/** Whether a note mentions the user: a condition in a query of `conversations`. */
export function hasMentionOf(organization: string, user: string): RawBuilder<boolean> {
  // The last condition is the one of the partial index.
  return sql<boolean>`conversations.id in (
    select conversation_id from conversation_notes
    where organization_id = ${organization} and mentions @> array[${user}]::text[] and mentions <> '{}'
  )`;
}

/** Whether a note mentions the user that is later than the user's last reading of the conversation. */
export function hasUnreadMentionOf(organization: string, user: string): RawBuilder<boolean> {
  return sql<boolean>`conversations.id in (
    select conversation_id from conversation_notes as note
    where organization_id = ${organization} and mentions @> array[${user}]::text[] and mentions <> '{}'
      and created_at > coalesce((
        select read_at from conversation_reads as read
        where read.organization_id = ${organization} and read.user_id = ${user}
          and read.conversation_id = note.conversation_id
      ), '-infinity')
  )`;
}

async function eraseNotes(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from conversation_notes
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])`;
  const updates = [
    sql`delete from conversation_notes where organization_id = ${organization_id} and id in (select id from batch)`,
  ];
  return updateBatch(tx, ids, { updates, after });
}
