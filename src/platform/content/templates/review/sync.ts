/**
 * Reads the state of templates from the review authority: on request, when the authority reports a change,
 * and while a template is in review.
 */
import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { TemplateNotice } from "../../../../ports/channel/template-authority.ts";
import { getInbox, getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import {
  defineJob,
  defineScheduledJob,
  type OutwardContext,
  outward,
  type World,
} from "../../../foundation/kernel/index.ts";
import { getTemplateInbox } from "../find.ts";
import { authorityOf } from "./authority.ts";
import { type SyncedInbox, syncInbox } from "./sync-inbox.ts";

const Intent = z.object({ inbox_ids: z.array(z.string()) });
type Intent = z.infer<typeof Intent>;

/** A sync can be repeated, so a sync whose process died is run again. */
export const syncTemplates = outward({
  intent: Intent,

  async begin(
    { inbox_id }: { readonly inbox_id?: string | undefined },
    { tx, world, organization },
  ): Promise<Intent> {
    if (inbox_id !== undefined) {
      authorityOf(world, (await getOrDefaultInbox(tx, organization, inbox_id)).channel);
      return { inbox_ids: [inbox_id] };
    }
    const rows = await ofOrganization(tx, organization)
      .selectFrom("inboxes")
      .select(["id", "channel"])
      .execute();
    const reviewed = rows.filter(({ channel }) => world.channels[channel]?.templates !== undefined);
    return { inbox_ids: reviewed.map(({ id }) => id) };
  },

  call: syncAll,
  find: syncAll,

  async record(inboxes) {
    const statuses: Record<string, number> = {};
    for (const status of inboxes.flatMap((inbox) => inbox.statuses)) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    const updated = inboxes.reduce((sum, inbox) => sum + inbox.updated, 0);
    const synced = inboxes.flatMap((inbox) => inbox.statuses).length;
    const skipped = inboxes.flatMap((inbox) => inbox.skipped).slice(0, maxSkipped);
    return { data: { synced, updated, statuses, skipped } };
  },
});

/** The most that an answer names. */
const maxSkipped = 100;

/** If the authority of one inbox fails, the other inboxes are still synced. */
async function syncAll(
  { inbox_ids }: Intent,
  { world, organization }: OutwardContext,
): Promise<SyncedInbox[]> {
  const synced: SyncedInbox[] = [];
  const failures: Failure[] = [];
  for (const inbox_id of inbox_ids) {
    try {
      const inbox = await getTemplateInbox(world.database.queries, {
        organization_id: organization,
        inbox_id,
      });
      synced.push(await syncInbox(world, { inbox }));
    } catch (error) {
      failures.push(error instanceof Failure ? error : fail("authority_unavailable", { inbox_id }, error));
    }
  }
  const [failure] = failures;
  if (failure) {
    throw failure;
  }
  return synced;
}

/**
 * Time until the next sync after a sync that left out a template, for example because it was being submitted.
 */
const repeatMs = 5_000;

const SyncPayload = z.object({
  organization_id: z.string(),
  inbox_id: z.string(),
  /** Only the templates of this name. */
  name: z.string().optional(),
});

export const syncTemplatesJob = defineJob({
  name: "template.sync",
  payload: SyncPayload,
  // Few attempts: the scheduled job tries again.
  maxAttempts: 3,

  async run({ name, ...target }, world) {
    const inbox = await getTemplateInbox(world.database.queries, target);
    const { isPartial } = await syncInbox(world, { inbox, name });
    return isPartial ? { runAgainAt: new Date(world.now().getTime() + repeatMs) } : undefined;
  },
});

/** The syncs of an inbox run one at a time. If a sync is waiting already, no second one is added. */
function newSyncJob(payload: z.infer<typeof SyncPayload>) {
  const key = `template.sync:${payload.inbox_id}`;
  return newJob(syncTemplatesJob, payload, { key, isDeduplicated: true });
}

/**
 * The authority reports a change. Its list is read instead of the report, because a report may be late, or
 * older than another report.
 */
export async function requestSync(world: World, notices: readonly TemplateNotice[]): Promise<void> {
  if (notices.length === 0) {
    return;
  }
  await world.database.transaction(async (tx) => {
    for (const { organization_id, phone_number, name } of notices) {
      const inbox = await getInbox(tx, organization_id, { phone_number });
      if (inbox) {
        await tx.enqueue([newSyncJob({ organization_id, inbox_id: inbox.id, name })]);
      }
    }
  });
}

/** Syncs while a template is in review or paused, and after a submission whose response was lost. */
export const syncPendingTemplatesJob = defineScheduledJob({
  name: "template.sync-pending",
  schedule: "*/5 * * * *",

  async run(world) {
    await world.database.transaction(async (tx) => {
      const inboxes = await tx
        .selectFrom("templates")
        .select(["organization_id", "inbox_id"])
        .distinct()
        .where((row) =>
          row.or([
            row("submitting_since", "is not", null),
            row("review_status", "in", ["pending", "paused"]),
          ]),
        )
        .execute();
      await tx.enqueue(inboxes.map(newSyncJob));
    });
  },
});
