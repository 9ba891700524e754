/**
 * Starts a scheduled flow for its audience, batch by batch.
 *
 * A batch and the progress of the firing commit together, so after a crash the next batch follows the last
 * committed one. A batch waits until most runs of the previous batch have begun, so that a large audience
 * does not delay other runs of the organization.
 */

import type { Selectable } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { type JobType, newJob } from "../../../../jobs/job.ts";
import { defineJob, system, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { normalizeContacts } from "../../cohorts/index.ts";
import { createSwitchOffJob, lostScopes } from "../authority/index.ts";
import { type FlowWithVersion, selectFlows } from "../definitions/find.ts";
import { startRuns } from "../run/index.ts";
import { readAudience } from "./audience.ts";
import { heldReasons } from "./held.ts";

/** Contacts or conversations per transaction. */
export const batchSize = 100;
/** Time until the next look at the previous batch if it has not begun. */
const busyMs = 500;

type FiringRow = Selectable<Tables["flow_firings"]>;

interface Batch {
  readonly organization_id: string;
  readonly firing_id: string;
  /** The id after which the batch begins. Running a batch again changes nothing. */
  readonly after_id: string;
}

const startBatchJobType = {
  name: "flow.start_batch",
  payload: z.object({ organization_id: z.string(), firing_id: z.string(), after_id: z.string() }),
} satisfies JobType<Batch>;

/**
 * The next batch is a job of its own: one job for all batches would run out of attempts when processes die
 * often.
 */
export async function enqueueBatch(tx: Transaction, batch: Batch): Promise<void> {
  await tx.enqueue([newJob(startBatchJobType, batch, { priority: "bulk" })]);
}

export const startBatchJob = defineJob<Batch>({
  ...startBatchJobType,

  async run(batch, world) {
    await normalizeContacts(world, batch.organization_id);
    const isBusy = await world.database.transaction((tx) => startBatch(tx, world, batch));
    return isBusy ? { runAgainAt: new Date(world.now().getTime() + busyMs) } : undefined;
  },

  async exhausted(batch, world) {
    await world.database.transaction(async (tx) => {
      const firing = await lockFiring(tx, batch);
      if (firing) {
        await endFiring(tx, firing, { status: "failed", now: world.now() });
      }
    });
  },
});

/** Returns whether the batch must wait, because the previous batch has not begun. */
async function startBatch(tx: Transaction, world: World, batch: Batch): Promise<boolean> {
  const { organization_id: organization } = batch;
  const now = world.now();
  const firing = await lockFiring(tx, batch);
  if (!firing) {
    return false;
  }
  if (await isBusy(tx, firing)) {
    return true;
  }
  const flow = await selectFlows(tx, organization).where("flows.id", "=", firing.flow_id).executeTakeFirst();
  const isLost = flow !== undefined && lostScopes(flow).length > 0;
  await tx.enqueue(isLost ? [createSwitchOffJob(firing)] : []);
  const context = flow && isScheduled(flow) && !isLost ? { tx, world, now, flow } : undefined;
  const held = context && batch.after_id === "" ? await heldReasons(context) : [];
  // Reading the audience creates the conversations that it lacks.
  const isHeld = held.length > 0;
  const audience = context && !isHeld && (await readAudience(context, batch.after_id, batchSize));
  if (!context || !audience) {
    const reason = held.join(", and ");
    world.log.warn({ ...batch, reason }, "A scheduled flow was stopped before it had started for all");
    await endFiring(tx, firing, { status: "stopped", now });
    return false;
  }
  const change = { tx, world, now, actor: system, organization };
  const outcomes = await startRuns(change, {
    flow: context.flow,
    trigger_type: "schedule",
    starts: audience.targets.map(({ id, conversation }) => {
      return { conversation, trigger_key: keyOf(firing, id), message_id: null };
    }),
  });
  const started = outcomes.filter((outcome) => !("skipped" in outcome)).length;
  await advanceFiring(tx, firing, { after_id: audience.last ?? batch.after_id, started });
  if (audience.last === undefined) {
    await endFiring(tx, firing, { status: "completed", now });
  } else {
    await enqueueBatch(tx, { ...batch, after_id: audience.last });
  }
  return false;
}

/** Checked again, because the flow may have been disabled or changed since the firing. */
function isScheduled({ is_enabled, trigger_type }: FlowWithVersion): boolean {
  return is_enabled && trigger_type === "schedule";
}

/** The trigger key: a firing starts one run for each contact or conversation. */
function keyOf({ id }: Pick<FiringRow, "id">, of: string): string {
  return `${id}:${of}`;
}

async function lockFiring(
  tx: Transaction,
  { organization_id, firing_id, after_id }: Batch,
): Promise<FiringRow | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("flow_firings")
    .selectAll()
    .where("id", "=", firing_id)
    .where("status", "=", "running")
    .where("after_id", "=", after_id)
    .forUpdate()
    .executeTakeFirst();
}

/** Whether more than half of the runs of the last batch have not begun. */
async function isBusy(tx: Transaction, firing: FiringRow): Promise<boolean> {
  const { organization_id, flow_id, before_batch_id, after_id } = firing;
  const { count } = await ofOrganization(tx, organization_id)
    .selectFrom("flow_runs")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("flow_id", "=", flow_id)
    .where("trigger_key", ">", keyOf(firing, before_batch_id))
    .where("trigger_key", "<=", keyOf(firing, after_id))
    .where("status", "=", "running")
    .where("steps", "=", 0)
    .executeTakeFirstOrThrow();
  return count > batchSize / 2;
}

async function advanceFiring(
  tx: Transaction,
  { organization_id, id, after_id: before_batch_id, started: before }: FiringRow,
  { after_id, started }: { readonly after_id: string; readonly started: number },
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("flow_firings")
    .set({ after_id, before_batch_id, started: before + started })
    .where("id", "=", id)
    .execute();
}

async function endFiring(
  tx: Transaction,
  { organization_id, id }: FiringRow,
  { status, now }: { readonly status: FiringRow["status"]; readonly now: Date },
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("flow_firings")
    .set({ status, ended_at: now.toISOString() })
    .where("id", "=", id)
    .execute();
}
