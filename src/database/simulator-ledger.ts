/** The messages and faults of the simulated channel in the database. */
import { type Selectable, sql } from "kysely";
import type { Database, Queries, Transaction } from "./database.ts";
import { newId } from "./id.ts";
import type { Tables } from "./schema.ts";

type Status = "accepted" | "sent" | "delivered" | "read" | "failed" | "received";

/** Only the simulator writes this table, and only these values. */
type Message = Selectable<Tables["simulator_messages"]> & {
  direction: "outbound" | "inbound";
  status: Status;
};

type Position = Pick<Message, "organization_id" | "id" | "status">;

/** A receipt to send later, as a job. */
interface Receipt {
  readonly name: string;
  readonly organization_id: string;
  readonly key?: string;
  readonly runAt: Date;
  readonly payload: unknown;
}

type MakeReceipts = (messages: readonly Message[]) => readonly Receipt[];

interface LedgerParts {
  readonly database: Database;
  /** Adds jobs in the given transaction. */
  enqueue(tx: Transaction, ...receipts: readonly Receipt[]): Promise<void>;
}

/** The store of the simulated channel. */
export function createSimulatorStore({ database, enqueue }: LedgerParts) {
  const { queries } = database;

  return {
    newId: (now: Date) => newId("sim", now),
    accept: (message: Readonly<Message>, receipts: readonly Receipt[]) =>
      database.transaction(async (tx) => {
        await tx.insertInto("simulator_messages").values(row(message)).execute();
        await enqueue(tx, ...receipts);
      }),
    receive: (message: Readonly<Message>) => receive(queries, message),
    advance: (to: Position, from: readonly Status[]) => advance(queries, to, from),
    read: (organization_id: string, phone_number: string, makeReceipts: MakeReceipts) =>
      database.transaction(async (tx) => {
        const messages = await markRead(tx, organization_id, phone_number);
        if (messages.length > 0) {
          await enqueue(tx, ...makeReceipts(messages));
        }
        return messages.length;
      }),
    find: (organization_id: string, token: string) => find(queries, organization_id, token),
    list: (organization_id: string, phone_number: string, limit: number) =>
      list(queries, { organization_id, phone_number, limit }),
    faults: (organization_id: string) => readFaults(queries, organization_id),
    replaceFaults: (organization_id: string, faults: Readonly<Record<string, unknown>>) =>
      replaceFaults(queries, organization_id, faults),
  };
}

async function receive(queries: Queries, message: Readonly<Message>): Promise<Message> {
  const { organization_id, id } = message;
  await queries
    .insertInto("simulator_messages")
    .values(row(message))
    .onConflict((conflict) => conflict.columns(["organization_id", "id"]).doNothing())
    .execute();
  return queries
    .selectFrom("simulator_messages")
    .selectAll()
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .$castTo<Message>()
    .executeTakeFirstOrThrow();
}

async function advance(queries: Queries, to: Position, from: readonly Status[]): Promise<void> {
  await queries
    .updateTable("simulator_messages")
    .set({ status: to.status })
    .where("organization_id", "=", to.organization_id)
    .where("id", "=", to.id)
    .where("status", "in", from)
    .execute();
}

/** With two calls at once, each message is marked and returned by one of them. */
async function markRead(tx: Transaction, organization_id: string, phone_number: string): Promise<Message[]> {
  return tx
    .updateTable("simulator_messages")
    .set({ status: "read" })
    .where("organization_id", "=", organization_id)
    .where("phone_number", "=", phone_number)
    .where("status", "=", "delivered")
    .returningAll()
    .$castTo<Message>()
    .execute();
}

async function find(queries: Queries, organization_id: string, token: string): Promise<Message | null> {
  const first = await queries
    .selectFrom("simulator_messages")
    .selectAll()
    .where("organization_id", "=", organization_id)
    .where("token", "=", token)
    .where("direction", "=", "outbound")
    .orderBy("created_at")
    .orderBy("id")
    .limit(1)
    .$castTo<Message>()
    .executeTakeFirst();
  return first ?? null;
}

interface PhoneQuery {
  readonly organization_id: string;
  readonly phone_number: string;
  readonly limit: number;
}

async function list(queries: Queries, { organization_id, phone_number, limit }: PhoneQuery) {
  const onPhone = queries
    .selectFrom("simulator_messages")
    .where("organization_id", "=", organization_id)
    .where("phone_number", "=", phone_number);
  const messages = await onPhone
    .selectAll()
    // By time first: an inbound message may have an id of its own that does not sort by time.
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .$castTo<Message>()
    .execute();
  const { total } = await onPhone.select(sql<number>`count(*)::int`.as("total")).executeTakeFirstOrThrow();
  return { messages, total };
}

async function readFaults(queries: Queries, organization_id: string): Promise<unknown> {
  const row = await queries
    .selectFrom("simulator_faults")
    .select("faults")
    .where("organization_id", "=", organization_id)
    .executeTakeFirst();
  return row?.faults ?? null;
}

async function replaceFaults(
  queries: Queries,
  organization_id: string,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const faults = JSON.stringify(given);
  await queries
    .insertInto("simulator_faults")
    .values({ organization_id, faults })
    .onConflict((conflict) => conflict.column("organization_id").doUpdateSet({ faults }))
    .execute();
}

function row(message: Readonly<Message>) {
  return { ...message, content: JSON.stringify(message.content) };
}
