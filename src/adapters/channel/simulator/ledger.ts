/** Stores the messages and faults of the simulated channel in the database. */
import { type Selectable, sql } from "kysely";
import type { Database, Queries, Transaction } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { type EnqueueAll, newJob } from "../../../jobs/job.ts";
import {
  type LedgerMessage,
  type LedgerStatus,
  type ReceiptJob,
  receiptJobType,
  type SimulatorStore,
} from "./store.ts";

/** Only the simulator writes this table, so its columns hold only these values. */
type Message = Selectable<Tables["simulator_messages"]> & LedgerMessage;

interface LedgerParts {
  readonly database: Database;
  readonly enqueueAll: EnqueueAll;
}

export function createSimulatorStore({ database, enqueueAll }: LedgerParts): SimulatorStore {
  const { queries } = database;
  // A lane for each organization, so that none waits for the receipts of another.
  const enqueueReceipts = (tx: Transaction, receipts: readonly ReceiptJob[]) =>
    enqueueAll(
      tx,
      receipts.map(({ payload, ...options }) =>
        newJob(receiptJobType, payload, { ...options, lane: `simulator:${payload.organization_id}` }),
      ),
    );

  return {
    newId: (now) => newId("sim", now),
    accept: (message, receipts) =>
      database.transaction(async (tx) => {
        await tx.insertInto("simulator_messages").values(toRow(message)).execute();
        await enqueueReceipts(tx, receipts);
      }),
    receive: (message) => receive(queries, message),
    advance: (to, from) => advance(queries, to, from),
    read: (organization_id, phone_number, createReceipts) =>
      database.transaction(async (tx) => {
        const messages = await markRead(tx, organization_id, phone_number);
        if (messages.length > 0) {
          await enqueueReceipts(tx, createReceipts(messages));
        }
        return messages.length;
      }),
    find: (organization_id, token) => find(queries, organization_id, token),
    list: (organization_id, phone_number, limit) => list(queries, { organization_id, phone_number, limit }),
    faults: (organization_id) => readFaults(queries, organization_id),
    replaceFaults: (organization_id, faults) => replaceFaults(queries, organization_id, faults),
  };
}

async function receive(queries: Queries, message: LedgerMessage): Promise<Message> {
  const { organization_id, id } = message;
  await queries
    .insertInto("simulator_messages")
    .values(toRow(message))
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

async function advance(
  queries: Queries,
  to: Pick<LedgerMessage, "organization_id" | "id" | "status">,
  from: readonly LedgerStatus[],
): Promise<void> {
  await queries
    .updateTable("simulator_messages")
    .set({ status: to.status })
    .where("organization_id", "=", to.organization_id)
    .where("id", "=", to.id)
    .where("status", "in", from)
    .execute();
}

/** Of two concurrent calls, only one marks and returns each message. */
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
    // By time first: the id of an inbound message may be the caller's and not sort by time.
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
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const faults = JSON.stringify(input);
  await queries
    .insertInto("simulator_faults")
    .values({ organization_id, faults })
    .onConflict((conflict) => conflict.column("organization_id").doUpdateSet({ faults }))
    .execute();
}

function toRow(message: LedgerMessage) {
  return { ...message, content: JSON.stringify(message.content) };
}
