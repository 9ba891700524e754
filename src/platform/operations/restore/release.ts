/**
 * Releases a restored installation.
 *
 * What waited when the backup was made may have been done since, by the installation that was backed up. So
 * nothing of it is done again: messages are looked up at their channel, and everything else is ended and
 * listed. Sessions and links end, and only the API keys that the operator names stay valid.
 */
import { z } from "zod";
import { type AsideJob, setJobsAside } from "../../../jobs/set-aside.ts";
import { deleteKey, listKeysBefore } from "../../account/api-keys/index.ts";
import { endAllSessions } from "../../account/auth/index.ts";
import { pauseAllBroadcasts } from "../../automation/broadcasts/index.ts";
import { cancelRestoredRuns } from "../../automation/flows/index.ts";
import { failWaitingDeliveries } from "../../automation/webhooks/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { deleteSetting, readSetting } from "../../foundation/settings.ts";
import { claimRestoredMessages } from "../../inbox/messages/index.ts";
import { recordCommand } from "../activity/index.ts";
import { heldSetting } from "./hold.ts";
import { keptJobs } from "./kept-jobs.ts";

export const ReleaseInput = z.object({
  /** The keys of the backup that stay valid. Without it nothing is changed, and what would be is returned. */
  keys: z
    .union([z.literal(["all", "none"]), z.array(z.string().min(1).max(64)).min(1).max(1_000)])
    .optional(),
});

interface RecordName {
  readonly organization_id: string;
  readonly id: string;
}

export interface ReleaseReport {
  /** False: the installation is not held, and nothing was done. */
  readonly is_held: boolean;
  /** Whether this call has released it. */
  readonly is_released: boolean;
  readonly backup_made_at: string | null;
  /** What waited when the backup was made. */
  readonly unknown_after_restore: {
    readonly messages: readonly RecordName[];
    readonly webhook_deliveries: readonly (RecordName & { readonly webhook_id: string })[];
    readonly broadcasts: readonly RecordName[];
    readonly flow_runs: readonly RecordName[];
    readonly jobs: readonly AsideJob[];
  };
  readonly keys: readonly (RecordName & { readonly name: string; readonly stays_valid: boolean })[];
  /** Names of keys that do not exist: nothing was done. */
  readonly unknown_keys: readonly string[];
}

/** Undoes the transaction of a preview. */
class PreviewEnd extends Error {
  readonly report: ReleaseReport;

  constructor(report: ReleaseReport) {
    super("The preview of a release ended.");
    this.report = report;
  }
}

/** @throws nothing for an installation that is not held, which the report says. */
export async function releaseRestored(
  { keys }: z.output<typeof ReleaseInput>,
  world: World,
): Promise<ReleaseReport> {
  const backupMadeAt = await readSetting(world.database, heldSetting);
  try {
    return await world.database.transaction(async (tx) => {
      const isHeld = backupMadeAt !== undefined && (await deleteSetting(tx, heldSetting));
      const report = isHeld ? await release(tx, world, { backupMadeAt, keys }) : notHeld;
      if (isHeld && !report.is_released) {
        throw new PreviewEnd(report);
      }
      return report;
    });
  } catch (error) {
    if (error instanceof PreviewEnd) {
      return error.report;
    }
    throw error;
  }
}

const notHeld: ReleaseReport = {
  is_held: false,
  is_released: false,
  backup_made_at: null,
  unknown_after_restore: { messages: [], webhook_deliveries: [], broadcasts: [], flow_runs: [], jobs: [] },
  keys: [],
  unknown_keys: [],
};

interface Release {
  readonly backupMadeAt: string;
  readonly keys: z.output<typeof ReleaseInput>["keys"];
}

async function release(
  tx: Transaction,
  world: World,
  { backupMadeAt, keys }: Release,
): Promise<ReleaseReport> {
  const now = world.now();
  const jobs = await setJobsAside(tx, { keptNames: keptJobs, error: "unknown_after_restore", now });
  const messages = await claimRestoredMessages(tx, backupMadeAt);
  const deliveries = await failWaitingDeliveries(tx);
  const flow_runs = await cancelRestoredRuns(tx, now);
  const broadcasts = await pauseAllBroadcasts(tx, now);
  await endAllSessions(tx);
  const stored = await listKeysBefore(tx, backupMadeAt);
  const confirmed = (id: string) => keys === "all" || (Array.isArray(keys) && keys.includes(id));
  for (const { organization_id, id } of stored.filter((key) => !confirmed(key.id))) {
    await deleteKey(tx, organization_id, id);
  }
  const named = Array.isArray(keys) ? keys : [];
  const unknown_keys = named.filter((id) => !stored.some((key) => key.id === id));
  const organizations = new Set(stored.map(({ organization_id }) => organization_id));
  for (const organization_id of organizations) {
    recordCommand(tx, world, { organization_id, name: "release", ids: [] });
  }
  return {
    is_held: true,
    is_released: keys !== undefined && unknown_keys.length === 0,
    backup_made_at: backupMadeAt,
    unknown_after_restore: {
      messages,
      webhook_deliveries: deliveries.map(({ event_id: id, ...delivery }) => ({ ...delivery, id })),
      broadcasts: broadcasts.map(({ organization_id, id }) => ({ organization_id, id })),
      flow_runs,
      jobs,
    },
    keys: stored.map((key) => ({ ...key, stays_valid: confirmed(key.id) })),
    unknown_keys,
  };
}
