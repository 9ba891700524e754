/** Erases a person: out of every row, stored answers and waiting events included; what was sent still counts. */
import { sql } from "kysely";
import { fail } from "../../../tools/errors.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { forgetEvents } from "../kernel/index.ts";

interface Person {
  readonly organization: string;
  readonly id: string;
  readonly phone_number: string | null;
  readonly bsuid: string | null;
  readonly now: Date;
}

/** The contact's row must be locked: what is written under it meanwhile waits, and finds nobody. */
export async function erase(tx: Transaction, person: Person): Promise<void> {
  const { organization } = person;
  const ids = (await threadsOf(tx, person).execute()).map((thread) => thread.id);
  await eraseProfile(tx, person);
  await eraseThreads(tx, person);
  await eraseMessages(tx, person);
  await forgetEvents(tx, organization, ids);
  await eraseAnswers(tx, person, ids);
  for (const jobs of ["jobs", "dead_jobs"] as const) {
    // Events that nobody has taken yet: they hold the text. A delivery holds ids alone, and ends by itself.
    await tx
      .deleteFrom(jobs)
      .where("organization_id", "=", organization)
      .where(sql<boolean>`payload #>> '{data,conversation_id}' = any(${ids}::text[])`)
      .execute();
  }
}

/** The keys stay: a request that is repeated now is told that the person is gone, and is not done once more. */
async function eraseAnswers(tx: Transaction, person: Person, threads: readonly string[]): Promise<void> {
  const { organization, id, phone_number, bsuid } = person;
  const named = [id, ...threads, phone_number, bsuid].filter((name) => name !== null);
  const gone = fail("contact_not_found");
  await tx
    .updateTable("idempotency")
    .set({ status: gone.status, body: JSON.stringify(gone.body()) })
    .where("organization_id", "=", organization)
    .where(sql<boolean>`body::text like any(${named.map((name) => `%"${name}"%`)}::text[])`)
    .execute();
}

function threadsOf(db: Queries, { organization, id }: Person) {
  return db
    .selectFrom("conversations")
    .select("id")
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id);
}

async function eraseProfile(tx: Transaction, { organization, id, now }: Person): Promise<void> {
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

/** Why a conversation went to whom was written by people, and may tell of the contact. */
async function eraseThreads(tx: Transaction, person: Person): Promise<void> {
  const { organization, id, now } = person;
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
    .where("conversation_id", "in", threadsOf(tx, person))
    .execute();
}

/** Their rows stay. A channel's error may name the number in its own words. */
async function eraseMessages(tx: Transaction, person: Person): Promise<void> {
  const { organization } = person;
  const erased = await tx
    .updateTable("messages")
    .set({ content: "{}", from: null, to: null, error: null })
    .where("organization_id", "=", organization)
    .where("conversation_id", "in", threadsOf(tx, person))
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
