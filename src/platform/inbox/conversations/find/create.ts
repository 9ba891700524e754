/** Creates the conversations of contacts with an inbox that do not exist. */
import { type Expression, sql } from "kysely";
import { newId } from "../../../../database/id.ts";
import { allColumnsOf, columnsOf, matchesKey, recordset, rowsOf } from "../../../../database/query/index.ts";
import { type Change, isListenedTo, type Transaction } from "../../../foundation/kernel/index.ts";
import { toConversationEvent } from "./event.ts";
import { type ConversationRow, selectConversations } from "./select.ts";

/** Contacts that each have one conversation with the inbox, or get one. */
export interface InboxContacts {
  readonly organization: string;
  readonly inbox_id: string;
  readonly contact_ids: readonly string[];
  readonly now: Date;
}

/** The rows to insert, in one order, so that two such statements do not deadlock. */
export function toNewConversations({ contact_ids, now }: Pick<InboxContacts, "contact_ids" | "now">) {
  return [...contact_ids].sort().map((contact_id) => ({ contact_id, id: newId("conv", now) }));
}

/**
 * The conversations of contacts with an inbox, locked until the commit. A new one is pending until
 * the contact answers.
 */
export async function lockOrCreateConversations(
  tx: Transaction,
  inboxContacts: InboxContacts,
): Promise<readonly ConversationRow[]> {
  const { organization, inbox_id, contact_ids, now } = inboxContacts;
  const at = now.toISOString();
  const rows = toNewConversations(inboxContacts);
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, opens_on_answer, created_at, updated_at)
    select ${organization}, id, ${inbox_id}, contact_id, 'pending', true, ${at}::timestamptz, ${at}::timestamptz
    from ${recordset("contact", columnsOf("conversations", "contact_id", "id"), rows)}
    on conflict (organization_id, contact_id, inbox_id) do nothing
  `.execute(tx);
  return selectConversations(tx, organization)
    .selectAll()
    .where("inbox_id", "=", inbox_id)
    .where(sql<boolean>`contact_id = any(${contact_ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

interface ConversationKey {
  readonly contact_id: string;
  readonly inbox_id: string;
}

/** The conversation of a contact in an inbox, created as `open` if there is none; locked until the commit. */
export async function findOrCreateConversation(
  change: Change,
  {
    organization,
    inbox_id,
    contact_id,
  }: { organization: string; inbox_id: string; contact_id: string | Expression<string> },
): Promise<ConversationRow> {
  const { tx, now } = change;
  const id = newId("conv", now);
  const at = now.toISOString();
  const row = await tx
    .insertInto("conversations")
    .values({
      organization_id: organization,
      id,
      inbox_id,
      contact_id,
      status: "open",
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "contact_id", "inbox_id"]).doUpdateSet({ updated_at: at }),
    )
    .returningAll()
    .returning(isCreationListenedTo.as("is_listened_to"))
    .executeTakeFirstOrThrow();
  return withCreationEvent(change, row, row.id === id);
}

/** The same for several contacts of an organization. */
export async function findOrCreateConversations(
  change: Change,
  organization: string,
  keys: readonly ConversationKey[],
): Promise<(key: ConversationKey) => ConversationRow | undefined> {
  const wanted = new Map(
    keys.map(({ contact_id, inbox_id }) => [textOf({ contact_id, inbox_id }), { contact_id, inbox_id }]),
  );
  const found = new Map(
    (await lockByKeys(change.tx, organization, [...wanted.values()])).map((row) => [textOf(row), row]),
  );
  const missing = [...wanted].flatMap(([text, key]) => (found.has(text) ? [] : key));
  for (const row of await createByKeys(change, organization, missing)) {
    found.set(textOf(row), row);
  }
  return (key) => found.get(textOf(key));
}

const textOf = ({ contact_id, inbox_id }: ConversationKey) => `${contact_id} ${inbox_id}`;

const keyColumns = columnsOf("conversations", "contact_id", "inbox_id");

async function lockByKeys(
  tx: Transaction,
  organization: string,
  keys: readonly ConversationKey[],
): Promise<readonly ConversationRow[]> {
  const contacts = keys.map(({ contact_id }) => contact_id);
  const { rows } = await rowsOf(allColumnsOf("conversations"))`
    select conversations.* from conversations
    join ${recordset("wanted", keyColumns, keys)}
      on ${matchesKey("conversations.contact_id", "wanted.contact_id", contacts)}
      and conversations.inbox_id = wanted.inbox_id
    where conversations.organization_id = ${organization}
    order by conversations.id
    for update of conversations
  `.execute(tx);
  return rows;
}

/** Another transaction may have created some of them meanwhile: these are found and locked. */
async function createByKeys(
  change: Change,
  organization: string,
  keys: readonly ConversationKey[],
): Promise<readonly ConversationRow[]> {
  if (keys.length === 0) {
    return [];
  }
  const { tx, now } = change;
  const created = keys.map((key) => ({ ...key, id: newId("conv", now) }));
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rows } = await rowsOf({ ...allColumnsOf("conversations"), is_listened_to: "boolean" })`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, created_at, updated_at)
    select ${organization}, id, inbox_id, contact_id, 'open', ${at}, ${at}
    from ${recordset("wanted", { ...keyColumns, ...columnsOf("conversations", "id") }, created)}
    order by contact_id, inbox_id
    on conflict (organization_id, contact_id, inbox_id) do update set updated_at = excluded.updated_at
    returning *, ${isCreationListenedTo} as is_listened_to
  `.execute(tx);
  const ids = new Set(created.map(({ id }) => id));
  return rows.map((row) => withCreationEvent(change, row, ids.has(row.id)));
}

const isCreationListenedTo = isListenedTo(sql`conversations.organization_id`, ["conversation.created"]);

function withCreationEvent(
  { tx, actor }: Change,
  { is_listened_to, ...row }: ConversationRow & { readonly is_listened_to: boolean },
  isNew: boolean,
): ConversationRow {
  if (isNew && is_listened_to) {
    const { organization_id, id: order } = row;
    tx.emit({ type: "conversation.created", organization_id, order, data: toConversationEvent(row, actor) });
  }
  return row;
}
