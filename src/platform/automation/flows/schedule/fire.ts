/**
 * Fires a schedule at its time.
 *
 * The firing and the next time are stored in one transaction, so each time fires once, whichever process runs
 * the job and wherever it crashes. If the service was down, only the latest missed time fires, and only if it
 * is less than an hour ago: later messages would come as a surprise.
 */
import { ofOrganization } from "../../../../database/query/index.ts";
import { defineJob, freshId, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import type { FlowRow } from "../definitions/find.ts";
import { enqueueBatch } from "./batch.ts";
import { type Firing, fireJobType, nextRunAfter, reschedule } from "./reschedule.ts";

const maxLateMs = 3_600_000;

export const fireJob = defineJob<Firing>({
  ...fireJobType,

  async run(firing, world) {
    await world.database.transaction(async (tx) => {
      const flow = await lockDue(tx, firing);
      if (flow) {
        const now = world.now();
        await fire({ tx, world, now }, flow, firing.due_at);
        await reschedule({ tx, now }, flow);
      }
    });
    return undefined;
  },

  /** Failing to fire at one time does not end the schedule. */
  async exhausted(firing, world, error) {
    await world.database.transaction(async (tx) => {
      const flow = await lockDue(tx, firing);
      if (flow) {
        world.log.error({ ...firing, error }, "A scheduled flow could not be started");
        await reschedule({ tx, now: world.now() }, flow);
      }
    });
  },
});

/** Returns undefined if the flow was deleted, disabled or rescheduled meanwhile. */
async function lockDue(
  tx: Transaction,
  { organization_id, flow_id, due_at }: Firing,
): Promise<FlowRow | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("flows")
    .selectAll()
    .where("id", "=", flow_id)
    .where("is_enabled", "=", true)
    .where("next_run_at", "=", due_at)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

interface FireContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
}

async function fire(context: FireContext, flow: FlowRow, missed_at: string): Promise<void> {
  const { tx, world, now } = context;
  const { organization_id, id: flow_id } = flow;
  const due = latestDue(flow, new Date(missed_at), now);
  const inserted = due && (await insertFiring(context, flow, due));
  if (inserted) {
    await enqueueBatch(tx, { organization_id, firing_id: inserted.id, after_id: "" });
    return;
  }
  const reason = due ? "its previous start has not ended" : "it is more than an hour late";
  world.log.warn({ organization_id, flow_id, due_at: missed_at, reason }, "A scheduled flow was not started");
}

/** The latest due time that is less than an hour ago. */
function latestDue(flow: FlowRow, missed: Date, now: Date): Date | undefined {
  const since = new Date(now.getTime() - maxLateMs);
  let latest = missed > since ? missed : undefined;
  for (let next = nextRunAfter(flow, latest ?? since); next && next <= now; next = nextRunAfter(flow, next)) {
    latest = next;
  }
  return latest;
}

/** Returns undefined while an earlier firing of the flow is still running. */
async function insertFiring(
  { tx, now }: FireContext,
  { organization_id, id: flow_id }: FlowRow,
  due: Date,
): Promise<{ readonly id: string } | undefined> {
  return tx
    .insertInto("flow_firings")
    .values({
      organization_id,
      id: freshId({ now }, "firing"),
      flow_id,
      due_at: due.toISOString(),
      status: "running",
      after_id: "",
      before_batch_id: "",
      started: 0,
      created_at: now.toISOString(),
      ended_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
}
