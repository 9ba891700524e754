/** Erases a contact's personal data from every table, including stored responses and queued events. Message counts stay. */
import { sql } from "kysely";
import { fail } from "../../../tools/errors.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { eraseEvents } from "../kernel/index.ts";

interface ErasedContact {
  readonly organization: string;
  readonly id: string;
  readonly phone_number: string | null;
  readonly bsuid: string | null;
  readonly now: Date;
}

/** The contact's row must be locked: concurrent writes for the contact then wait, and find no contact afterwards. */
export async function eraseContact(tx: Transaction, contact: ErasedContact): Promise<void> {
  const { organization } = contact;
  const conversations = await conversationsOf(tx, contact).execute();
  const ids = conversations.map((conversation) => conversation.id);
  await eraseProfile(tx, contact);
  await eraseConversations(tx, contact);
  await eraseMessages(tx, contact);
  await eraseEvents(tx, organization, ids);
  await eraseStoredResponses(tx, contact, ids);
  for (const jobs of ["jobs", "dead_jobs"] as const) {
    // Queued events hold the text of messages. Deliveries hold only ids, and end without an effect.
    await tx
      .deleteFrom(jobs)
      .where("organization_id", "=", organization)
      .where(sql<boolean>`payload #>> '{data,conversation_id}' = any(${ids}::text[])`)
      .execute();
  }
}

/** The idempotency keys stay: a repeated request is answered with `contact_not_found` and does not run again. */
async function eraseStoredResponses(
  tx: Transaction,
  contact: ErasedContact,
  conversations: readonly string[],
): Promise<void> {
  const { organization, id, phone_number, bsuid } = contact;
  const identifiers = [id, ...conversations, phone_number, bsuid].filter((text) => text !== null);
  const failure = fail("contact_not_found");
  await tx
    .updateTable("idempotency")
    .set({ status: failure.status, body: JSON.stringify(failure.body()) })
    .where("organization_id", "=", organization)
    .where(sql<boolean>`body::text like any(${identifiers.map((text) => `%"${text}"%`)}::text[])`)
    .execute();
}

function conversationsOf(db: Queries, { organization, id }: ErasedContact) {
  return db
    .selectFrom("conversations")
    .select("id")
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id);
}

async function eraseProfile(tx: Transaction, { organization, id, now }: ErasedContact): Promise<void> {
  await tx
    .updateTable("contacts")
    .set({
      phone_number: null,
      bsuid: null,
      username: null,
      name: null,
      search_text: "",
      tags: [],
      metadata: "{}",
      erased_at: now.toISOString(),
    })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .execute();
  await tx
    .deleteFrom("contact_identities")
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id)
    .execute();
}

/** The reasons of assignments are free text, and may contain personal data. */
async function eraseConversations(tx: Transaction, contact: ErasedContact): Promise<void> {
  const { organization, id, now } = contact;
  await tx
    .updateTable("conversations")
    .set({ erased_at: now.toISOString(), tags: [] })
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id)
    .execute();
  await tx
    .updateTable("assignments")
    .set({ reason: null })
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id)
    .execute();
  await tx
    .updateTable("routing_decisions")
    .set({ explanation: "", candidates: "[]" })
    .where("organization_id", "=", organization)
    .where("conversation_id", "in", conversationsOf(tx, contact))
    .execute();
}

/** The rows stay. A channel's error text may contain the phone number. */
async function eraseMessages(tx: Transaction, contact: ErasedContact): Promise<void> {
  const { organization } = contact;
  const erased = await tx
    .updateTable("messages")
    .set({ content: "{}", from: null, to: null, error: null })
    .where("organization_id", "=", organization)
    .where("conversation_id", "in", conversationsOf(tx, contact))
    .returning("id")
    .execute();
  const ids = erased.map((message) => message.id);
  await tx
    .updateTable("message_receipts")
    .set({ error: null })
    .where("organization_id", "=", organization)
    .where(sql<boolean>`message_id = any(${ids}::text[])`)
    .where("error", "is not", null)
    .execute();
}
