/** Stores the messages and faults of the simulated channel in the database. */
import { type Selectable, sql } from "kysely";
import type { Database, DatabaseTransaction, Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import {
  columnsOf,
  insertAll,
  matchesKey,
  ofOrganization,
  recordset,
} from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { coalesce } from "../../../database/sharing/index.ts";
import { together } from "../../../database/transaction.ts";
import { type Enqueuer, type NewJob, newJob } from "../../../jobs/job.ts";
import {
  type DueReceipt,
  type LedgerMessage,
  type LedgerStatus,
  type ReceiptJob,
  receiptJobType,
  receiptsJobType,
  type SimulatorStore,
} from "./store.ts";

/** Only the simulator writes this table, so its columns hold only these values. */
type Message = Selectable<Tables["simulator_messages"]> & LedgerMessage;

export interface LedgerParts {
  readonly database: Database;
  readonly enqueue: Enqueuer;
}

export function createSimulatorStore(parts: LedgerParts): SimulatorStore {
  const { database } = parts;
  const { queries } = database;
  return {
    newId: (now) => newId("sim", now),
    accept: (message, receipts) => accept(parts, { message, receipts }),
    receive: (message) => receive(queries, message),
    advance: (to, from) => advance(database, { to, from }),
    read: (organization_id, phone_number, createReceipts) =>
      database.transaction(async (tx) => {
        const messages = await markRead(tx, organization_id, phone_number);
        if (messages.length > 0) {
          await parts.enqueue(tx, createReceipts(messages).map(toJob));
        }
        return messages.length;
      }),
    find: (organization_id, token) => find(queries, organization_id, token),
    list: (organization_id, phone_number, limit) => list(queries, { organization_id, phone_number, limit }),
    faults: (organization_id) => readFaults(queries, organization_id),
    replaceFaults: (organization_id, faults) => replaceFaults(queries, organization_id, faults),
  };
}

/** A lane for each organization, so that none waits for the receipts of another. */
const laneOf = (organization: string) => `simulator:${organization}`;

const toJob = ({ payload, ...options }: ReceiptJob) =>
  newJob(receiptJobType, payload, { ...options, lane: laneOf(payload.organization_id) });

interface Acceptance {
  readonly message: LedgerMessage;
  readonly receipts: readonly ReceiptJob[];
}

const accept = coalesce(
  async (
    { database, enqueue }: LedgerParts,
    accepted: readonly Acceptance[],
  ): Promise<readonly undefined[]> => {
    const messages = accepted.map(({ message }) => message);
    const receipts = accepted.flatMap((one) => one.receipts);
    const jobs = receipts.filter(({ priority }) => priority !== "bulk").map(toJob);
    await database.transaction(
      (tx) =>
        together(
          insertAll(tx, "simulator_messages", messages),
          enqueue(tx, [...jobs, ...bulkJobs(accepted)]),
        ),
      { keepsPlans: true },
    );
    return accepted.map(() => undefined);
  },
  undefined,
  { mixesOrganizations: true },
);

/**
 * The jobs for the receipts of broadcast messages. A job delivers the receipts of one organization that are
 * due the same time after acceptance, and runs when the last one is due.
 */
function bulkJobs(accepted: readonly Acceptance[]): readonly NewJob[] {
  const groups = new Map<string, { organization_id: string; runAt: Date; receipts: DueReceipt[] }>();
  for (const { message, receipts } of accepted) {
    const { organization_id, created_at } = message;
    for (const { payload, runAt } of receipts.filter(({ priority }) => priority === "bulk")) {
      const key = `${organization_id} ${runAt.getTime() - Date.parse(created_at)}`;
      const group = groups.get(key) ?? { organization_id, runAt, receipts: [] };
      groups.set(key, group);
      group.receipts.push(payload);
      group.runAt = group.runAt > runAt ? group.runAt : runAt;
    }
  }
  return [...groups.values()].map(({ runAt, ...due }) =>
    newJob(receiptsJobType, due, { runAt, lane: laneOf(due.organization_id), priority: "bulk" }),
  );
}

async function receive(queries: Queries, message: LedgerMessage): Promise<Message> {
  const { organization_id, id } = message;
  const received = await queries
    .insertInto("simulator_messages")
    .values(toRow(message))
    .onConflict((conflict) => conflict.columns(["organization_id", "id"]).doNothing())
    .returningAll()
    .$castTo<Message>()
    .executeTakeFirst();
  if (received) {
    return received;
  }
  return ofOrganization(queries, organization_id)
    .selectFrom("simulator_messages")
    .selectAll()
    .where("id", "=", id)
    .$castTo<Message>()
    .executeTakeFirstOrThrow();
}

interface Advance {
  readonly to: Pick<LedgerMessage, "organization_id" | "id" | "status">;
  readonly from: readonly LedgerStatus[];
}

const stepColumns = {
  ...columnsOf("simulator_messages", "organization_id", "id", "status"),
  from: "jsonb",
} as const;

const advance = coalesce(
  async (database: Database, steps: readonly Advance[]): Promise<readonly undefined[]> => {
    // Of several steps of one message, the one that reaches it from the most statuses is the last.
    const ordered = steps.toSorted((one, other) => one.from.length - other.from.length);
    const last = new Map(
      ordered.map(({ to: { organization_id, id, status }, from }) => [
        `${organization_id} ${id}`,
        { organization_id, id, status, from },
      ]),
    );
    const rows = [...last.values()];
    const organizations = rows.map(({ organization_id }) => organization_id);
    const ids = rows.map(({ id }) => id);
    const update = sql`
      update simulator_messages as message set status = step.status
      from ${recordset("step", stepColumns, rows)}
      where ${matchesKey("message.organization_id", "step.organization_id", organizations)}
        and ${matchesKey("message.id", "step.id", ids)} and step."from" ? message.status
    `;
    await database.transaction((tx) => update.execute(tx), { keepsPlans: true });
    return steps.map(() => undefined);
  },
  undefined,
  { mixesOrganizations: true },
);

/** Of two concurrent calls, only one marks and returns each message. */
async function markRead(
  tx: DatabaseTransaction,
  organization_id: string,
  phone_number: string,
): Promise<Message[]> {
  return ofOrganization(tx, organization_id)
    .updateTable("simulator_messages")
    .set({ status: "read" })
    .where("phone_number", "=", phone_number)
    .where("status", "=", "delivered")
    .returningAll()
    .$castTo<Message>()
    .execute();
}

async function find(queries: Queries, organization_id: string, token: string): Promise<Message | null> {
  const first = await ofOrganization(queries, organization_id)
    .selectFrom("simulator_messages")
    .selectAll()
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
  const onPhone = ofOrganization(queries, organization_id)
    .selectFrom("simulator_messages")
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

/** Calls that arrive together share one read. */
const readFaults = coalesce(
  async (queries: Queries, organizations: readonly string[]): Promise<readonly unknown[]> => {
    const rows = await queries
      .selectFrom("simulator_faults")
      .select(["organization_id", "faults"])
      .where((row) => row("organization_id", "=", row.fn.any(row.val([...new Set(organizations)]))))
      .execute();
    const faults = new Map(rows.map((row) => [row.organization_id, row.faults]));
    return organizations.map((organization_id) => faults.get(organization_id) ?? null);
  },
  undefined,
  { mixesOrganizations: true },
);

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
