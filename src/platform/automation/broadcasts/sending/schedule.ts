/** Executes broadcasts at their scheduled time. */

import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { failField } from "../../../../../tools/errors.ts";
import { allowedOperations, requireOperation } from "../../../../../tools/rule-operations.ts";
import { newJob } from "../../../../jobs/job.ts";
import { readRulesBoundTo } from "../../../account/rules/index.ts";
import {
  defineJob,
  system,
  type Transaction,
  type World,
  type WriteContext,
} from "../../../foundation/kernel/index.ts";
import { normalizeContacts } from "../../../inbox/contacts/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast } from "../find.ts";
import { executeBroadcast } from "./execute.ts";

const maxAheadMs = 30 * 24 * 3_600_000;
/**
 * A later start is no longer what the author expects: the service was down, and the messages would come as a
 * surprise.
 */
const maxLateMs = 3_600_000;

/** @throws Failure `schedule_invalid`, `not_allowed_by_rules`. */
export function requireSchedulable(
  scheduled_at: string | null | undefined,
  { now, caller }: Pick<WriteContext, "now" | "caller">,
): void {
  if (scheduled_at === null || scheduled_at === undefined) {
    return;
  }
  requireOperation(allowedOperations(caller.rules), "execute_broadcast");
  const aheadMs = Date.parse(scheduled_at) - now.getTime();
  if (aheadMs <= 0 || aheadMs > maxAheadMs) {
    const reason = aheadMs <= 0 ? "in the past" : "more than 30 days ahead";
    throw failField("scheduled_at", "schedule_invalid", { reason });
  }
}

/** Adds the job that executes a scheduled broadcast. After rescheduling, only the last job counts. */
export async function scheduleStart(
  tx: Transaction,
  { organization_id, id, scheduled_at }: BroadcastRow,
): Promise<void> {
  if (scheduled_at !== null) {
    const payload = { organization_id, broadcast_id: id, scheduled_at };
    await tx.enqueue([newJob(startBroadcastJob, payload, { runAt: new Date(scheduled_at) })]);
  }
}

export const startBroadcastJob = defineJob({
  name: "broadcast.start",
  payload: z.object({ organization_id: z.string(), broadcast_id: z.string(), scheduled_at: z.string() }),

  async run({ organization_id, broadcast_id, scheduled_at }, world) {
    await normalizeContacts(world, organization_id);
    try {
      await world.database.transaction((tx) =>
        start(tx, world, { organization_id, broadcast_id, scheduled_at }),
      );
    } catch (error) {
      if (!(error instanceof Failure) || error.status >= 500) {
        throw error;
      }
      await markFailed(world, { organization_id, broadcast_id, reason: error.code });
    }
    return undefined;
  },
});

interface Start {
  readonly organization_id: string;
  readonly broadcast_id: string;
  readonly scheduled_at: string;
}

async function start(
  tx: Transaction,
  world: World,
  { organization_id, broadcast_id, scheduled_at }: Start,
): Promise<void> {
  const broadcast = await getBroadcast(tx, organization_id, broadcast_id, { forUpdate: true }).catch(
    ignoreDeleted,
  );
  if (broadcast?.execution_status !== "scheduled" || broadcast.scheduled_at !== scheduled_at) {
    return;
  }
  const now = world.now();
  if (now.getTime() - Date.parse(scheduled_at) > maxLateMs) {
    const paused_reason = "missed_schedule";
    await changeBroadcast(tx, broadcast, { execution_status: "paused", paused_reason, now });
    emitNotStarted(tx, { ...broadcast, execution_status: "paused", reason: paused_reason });
    return;
  }
  // Bound by the rules of who saved it, as they are now.
  const { rules, budgets } = await readRulesBoundTo(tx, organization_id, broadcast_id);
  const actor = { ...system, ...(rules.length > 0 && { rules }), budgets };
  await executeBroadcast({ tx, world, now, broadcast, actor }, { allowPartial: false });
}

function ignoreDeleted(error: unknown): undefined {
  if (!(error instanceof Failure) || error.code !== "broadcast_not_found") {
    throw error;
  }
}

/** Nothing was sent: the execution was rolled back. */
async function markFailed(
  world: World,
  {
    organization_id,
    broadcast_id,
    reason,
  }: { organization_id: string; broadcast_id: string; reason: string },
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const broadcast = await getBroadcast(tx, organization_id, broadcast_id, { forUpdate: true });
    if (broadcast.execution_status === "scheduled") {
      await changeBroadcast(tx, broadcast, {
        execution_status: "failed",
        failure_reason: reason,
        now: world.now(),
      });
      emitNotStarted(tx, { ...broadcast, execution_status: "failed", reason });
    }
  });
}

interface NotStarted extends Pick<BroadcastRow, "organization_id" | "id" | "name" | "scheduled_at"> {
  readonly execution_status: "failed" | "paused";
  readonly reason: string;
}

function emitNotStarted(
  tx: Transaction,
  { organization_id, id: broadcast_id, name, scheduled_at, execution_status, reason }: NotStarted,
): void {
  if (scheduled_at !== null) {
    const data = { broadcast_id, name, scheduled_at, execution_status, reason };
    tx.emit({ type: "broadcast.not_started", organization_id, order: broadcast_id, data });
  }
}
