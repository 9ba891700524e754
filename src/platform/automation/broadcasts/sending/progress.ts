/**
 * Counts the progress of the messages of broadcasts in the transaction that changes the messages, so that the
 * counts are exact at every moment. Completes a broadcast when no recipient is pending, and pauses a
 * broadcast whose messages fail too often.
 */
import { sql } from "kysely";
import type { PausedReason } from "../../../../../tools/broadcasts/index.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import type { BroadcastProgress } from "../../../inbox/messages/index.ts";
import { emitState, reportedColumns } from "../events.ts";

type Status = BroadcastProgress["after"];

const counted = ["sent", "delivered", "read", "failed"] as const;

/** For each status of a message, the counts that include the message. */
const countsOf: Readonly<Record<Status, readonly (typeof counted)[number][]>> = {
  queued: [],
  sending: [],
  received: [],
  sent: ["sent"],
  delivered: ["sent", "delivered"],
  read: ["sent", "delivered", "read"],
  failed: ["failed"],
};

type Counts = Record<(typeof counted)[number], number>;

export async function countProgress(
  tx: Transaction,
  world: World,
  changes: readonly BroadcastProgress[],
): Promise<void> {
  const organization = changes[0]?.organization_id ?? "";
  const byId = new Map<string, Counts>();
  for (const { broadcast_id, before, after } of changes) {
    const counts = byId.get(broadcast_id) ?? { sent: 0, delivered: 0, read: 0, failed: 0 };
    byId.set(broadcast_id, counts);
    for (const name of countsOf[before]) {
      counts[name] -= 1;
    }
    for (const name of countsOf[after]) {
      counts[name] += 1;
    }
  }
  // Always in the same order, so that two transactions do not deadlock.
  const rows = [...byId]
    .map(([id, counts]) => ({ id, ...counts }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const { id, ...counts } of rows) {
    await addCounts(tx, { organization, id, counts, now: world.now() });
    const failures = changes.filter(({ broadcast_id, error }) => broadcast_id === id && error !== null);
    await pauseIfFailing(tx, { organization, id, failures, now: world.now() });
  }
}

async function addCounts(
  tx: Transaction,
  { organization, id, counts, now }: { organization: string; id: string; counts: Counts; now: Date },
): Promise<void> {
  const { sent, delivered, read, failed } = counts;
  const { rows } = await rowsOf({ ...reportedColumns, was_completed: "boolean" })`
    update broadcasts set sent = sent + ${sent}, delivered = delivered + ${delivered}, read = read + ${read},
      failed = failed + ${failed},
      ${completion(sql`sent + ${sent} + failed + ${failed}`, now)}
    -- Locked before, so that the state before is the one that the update replaces.
    from (
      select id as locked_id, execution_status = 'completed' as was_completed from broadcasts
      where organization_id = ${organization} and id = ${id}
      for no key update
    ) as locked
    where organization_id = ${organization} and id = locked_id
    returning ${reported}, was_completed
  `.execute(tx);
  for (const { was_completed, ...broadcast } of rows) {
    if (broadcast.execution_status === "completed" && !was_completed) {
      emitState(tx, broadcast);
    }
  }
}

const reported = sql.join(Object.keys(reportedColumns).map((column) => sql.ref(column)));

/** The assignments that complete a broadcast without pending recipients. */
function completion(done: ReturnType<typeof sql>, now: Date) {
  const isDone = sql`execution_status = 'processing' and total = ${done}`;
  return sql`
    execution_status = case when ${isDone} then 'completed' else execution_status end,
    completed_at = case when ${isDone} then ${now.toISOString()}::timestamptz else completed_at end,
    updated_at = ${now.toISOString()}::timestamptz`;
}

/** Completes the broadcasts that have nothing left to send. */
export async function completeIfDone(
  tx: Transaction,
  {
    organization,
    ids,
    now,
  }: { readonly organization: string; readonly ids: readonly string[]; readonly now: Date },
): Promise<void> {
  const { rows } = await rowsOf(reportedColumns)`
    update broadcasts set ${completion(sql`sent + failed`, now)}
    where organization_id = ${organization} and id = any(${ids}::text[])
      and execution_status = 'processing' and total = sent + failed
    returning ${reported}
  `.execute(tx);
  for (const completed of rows) {
    emitState(tx, completed);
  }
}

/**
 * A broadcast pauses when 10 of its last 200 messages failed: 5 %, the same number in a smaller broadcast.
 */
const failureRule = { failures: 10, of: 200 } as const;

/** Errors that are about the person and not about the broadcast. */
const personalCodes = [
  "recipient_erased",
  "contact_blocked",
  "undeliverable",
  "marketing_limit",
  "marketing_opt_out",
  "not_delivered_experiment",
];
/** The template was paused, disabled or removed. */
const templateCodes = ["template_missing", "template_paused", "template_disabled"];

interface FailingBroadcast {
  readonly organization: string;
  readonly id: string;
  readonly failures: readonly BroadcastProgress[];
  readonly now: Date;
}

async function pauseIfFailing(
  tx: Transaction,
  { organization, id, failures, now }: FailingBroadcast,
): Promise<void> {
  const codes = failures.flatMap(({ error }) => error?.code ?? []);
  if (codes.every((code) => personalCodes.includes(code))) {
    return;
  }
  const reason: PausedReason = codes.some((code) => templateCodes.includes(code))
    ? "template_not_sendable"
    : "too_many_failures";
  const { rows } = await rowsOf(reportedColumns)`
    update broadcasts set execution_status = 'paused', paused_reason = ${reason}, updated_at = ${now.toISOString()}::timestamptz
    where organization_id = ${organization} and id = ${id} and execution_status = 'processing'
      and (${reason === "template_not_sendable"} or ${failureRule.failures} <= (
        select count(*) from (
          select status, error from messages
          where organization_id = ${organization} and broadcast_id = ${id} and status not in ('queued', 'sending')
          order by id desc limit ${failureRule.of}
        ) as last
        where status = 'failed' and error ->> 'code' <> all(${personalCodes}::text[])
      ))
    returning ${reported}
  `.execute(tx);
  for (const paused of rows) {
    emitState(tx, paused);
  }
}
