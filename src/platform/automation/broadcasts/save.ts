/** Creates and changes broadcasts, and says what a plan of it shows. */
import type { z } from "zod";
import type { broadcasts as contract } from "../../../../tools/broadcasts/index.ts";
import { Failure } from "../../../../tools/contract/index.ts";
import { failField } from "../../../../tools/errors.ts";
import { bindRules } from "../../account/rules/index.ts";
import { getAccessibleUploadAt } from "../../content/uploads/index.ts";
import { freshId, type WriteContext } from "../../foundation/kernel/index.ts";
import { requireCohort } from "../cohorts/index.ts";
import {
  type BroadcastRow,
  changeBroadcast,
  getBroadcast,
  lockBroadcast,
  serializeBroadcast,
} from "./find.ts";
import { broadcastContent, prepareContent } from "./prepare.ts";
import { estimateBroadcast } from "./reading/index.ts";
import { requireSchedulable, scheduleStart, startable } from "./sending/index.ts";

type Input<Name extends keyof typeof contract> = z.output<(typeof contract)[Name]["input"]>;

export async function createBroadcast(input: Input<"create_broadcast">, context: WriteContext) {
  const { tx, organization, caller, now } = context;
  requireSchedulable(input.scheduled_at, context);
  await requireCohort(tx, organization, input.cohort_id);
  await getAccessibleUploadAt(tx, caller, input.header_media_url, "header_media_url");
  const isDraft = input.scheduled_at === undefined;
  const { template } = await prepareContent(context, organization, input, { isDraft });
  const broadcast = await tx
    .insertInto("broadcasts")
    .values({
      organization_id: organization,
      id: freshId({ now }, "bc"),
      inbox_id: template.inbox_id,
      name: input.name,
      cohort_id: input.cohort_id,
      template_id: input.template_id,
      variable_mapping: JSON.stringify(input.variable_mapping),
      header_media_url: input.header_media_url,
      scheduled_at: input.scheduled_at,
      execution_status: isDraft ? "draft" : "scheduled",
      excluded: "{}",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await bindRules(context, broadcast.id, caller);
  await scheduleStart(tx, broadcast);
  return { data: serializeBroadcast(broadcast) };
}

export async function updateBroadcast(
  { id, variable_mapping, scheduled_at, ...changes }: Input<"update_broadcast">,
  context: WriteContext,
) {
  const { tx, organization, caller, actor, now } = context;
  requireSchedulable(scheduled_at, context);
  const before = await lockBroadcast(tx, organization, { id, allowed: startable, action: "changed" });
  await requireCohort(tx, organization, changes.cohort_id ?? before.cohort_id);
  await getAccessibleUploadAt(tx, caller, changes.header_media_url ?? undefined, "header_media_url");
  // The scheduled time of a failed broadcast has passed.
  const former = before.execution_status === "failed" ? null : before.scheduled_at;
  if (actor.rules && former !== null && scheduled_at === undefined) {
    // The rules see by the time that the call schedules a broadcast.
    throw failField("scheduled_at", "scheduled_at_required", { scheduled_at: former });
  }
  const time = scheduled_at === undefined ? former : scheduled_at;
  const content = { ...broadcastContent(before), ...changes, inbox_id: undefined };
  const { template } = await prepareContent(
    context,
    organization,
    { ...content, variable_mapping: variable_mapping ?? content.variable_mapping },
    { isDraft: time === null },
  );
  const changed = await changeBroadcast(tx, before, {
    ...changes,
    inbox_id: template.inbox_id,
    scheduled_at: time,
    now,
    variable_mapping: variable_mapping && JSON.stringify(variable_mapping),
    execution_status: time === null ? "draft" : "scheduled",
    failure_reason: null,
  });
  await bindRules(context, id, caller);
  if (scheduled_at !== undefined) {
    await scheduleStart(tx, changed);
  }
  return { data: serializeBroadcast(changed) };
}

interface Saving {
  /** The first word of the summary. */
  readonly verb: string;
  save(context: WriteContext): Promise<{ readonly data: { readonly id: string } }>;
}

/** Saves the broadcast, reads whom it would reach at its time, and takes it back. */
export function describeSaving({ verb, save }: Saving, context: WriteContext) {
  return context.tx.rehearse(async (tx) => {
    const acting = { ...context, tx };
    const { data } = await save(acting);
    const broadcast = await getBroadcast(tx, context.organization, data.id);
    const { name, scheduled_at: time } = broadcast;
    return {
      summary: `${verb} the broadcast ${name}${time === null ? "" : `, which begins at ${time}`}`,
      warnings: time === null ? [] : [await warnOfAudience(acting, broadcast)],
    };
  });
}

async function warnOfAudience({ tx, world, now }: WriteContext, broadcast: BroadcastRow): Promise<string> {
  const rule = "It reaches whoever is in the cohort when it begins, with the template as it is then.";
  try {
    const { recipient_count, cost, currency } = await estimateBroadcast(
      { tx, world, now, showsContacts: false },
      broadcast,
    );
    const price = cost === null ? "" : `, for ${cost} ${currency}`;
    return `${rule} Now that would be ${recipient_count} people${price}.`;
  } catch (error) {
    if (error instanceof Failure) {
      return `${rule} How many that would be now is not known: ${error.message}`;
    }
    throw error;
  }
}
