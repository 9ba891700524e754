/**
 * `tidings release`: lists what waited when the backup was made, repeats the erasures since then, and
 * releases the restored service.
 */
import { z } from "zod";
import { readConfig } from "../../../config/index.ts";
import { CommandError, UsageError } from "../../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../../commands/options.ts";
import { describeTable, print } from "../../commands/print.ts";
import { withService } from "../send.ts";
import { describeErasures, eraseAgain, type RepeatedErasures, readErasures } from "./erasures.ts";

const RecordName = z.object({ organization_id: z.string(), id: z.string() });
const Records = z.array(RecordName);

/** The response of the service. */
const Report = z.object({
  is_held: z.boolean(),
  is_released: z.boolean(),
  backup_made_at: z.string().nullable(),
  unknown_after_restore: z.object({
    messages: Records,
    webhook_deliveries: z.array(RecordName.extend({ webhook_id: z.string() })),
    broadcasts: Records,
    flow_runs: Records,
    jobs: z.array(z.object({ name: z.string(), id: z.string(), organization_id: z.string().nullable() })),
  }),
  keys: z.array(RecordName.extend({ name: z.string(), stays_valid: z.boolean() })),
  unknown_keys: z.array(z.string()),
});

type Report = z.output<typeof Report>;

export async function runRelease(options: CommandOptions): Promise<void> {
  const keys = readKeys(options.keys);
  const known = await readErasures(readConfig(undefined, settingsOf(options)).config, options.erasures);
  const { report, erasures } = await withService(options, async (send) => {
    const preview = Report.parse(await send("release", {}));
    if (!preview.is_held) {
      throw new CommandError("The service is not held: it was not restored, or was released before.");
    }
    const moment = { is_preview: keys === undefined, backupMadeAt: preview.backup_made_at };
    // Before the release, after which people use the service.
    const repeated = await eraseAgain(send, known, moment);
    const released = keys === undefined ? preview : Report.parse(await send("release", { keys }));
    return { report: released, erasures: repeated };
  });
  if (report.unknown_keys.length > 0) {
    throw new UsageError(`The backup has no keys ${report.unknown_keys.join(", ")}. Nothing was released.`);
  }
  print(options.json, { ...report, erasures }, () => describe(report, erasures));
}

function readKeys(list: string | undefined): "all" | "none" | readonly string[] | undefined {
  if (list === undefined || list === "all" || list === "none") {
    return list;
  }
  const ids = list.split(",").map((id) => id.trim());
  if (ids.some((id) => !/^key_\w{1,60}$/.test(id))) {
    throw new UsageError("--keys takes all, none, or ids of keys separated by commas.");
  }
  return ids;
}

function describe(
  { is_released, backup_made_at, unknown_after_restore, keys }: Report,
  erasures: RepeatedErasures,
): string[] {
  const rows = listUnknown(unknown_after_restore);
  const state = is_released
    ? `Released. All sessions have ended. What waited when the backup was made (${backup_made_at}):`
    : `Held. Nothing was changed. What waited when the backup was made (${backup_made_at}), and what a release does:`;
  const keyRows = keys.map(({ organization_id, id, name, stays_valid }) => {
    const then = stays_valid ? "valid" : "revoked";
    return [organization_id, id, is_released ? then : "revoked unless named", name];
  });
  return [
    ...describeErasures(erasures, is_released),
    state,
    "",
    ...(rows.length === 0 ? ["nothing"] : describeTable(["ORGANIZATION", "WHAT", "ID", "THEN"], rows)),
    "",
    ...describeTable(["ORGANIZATION", "API KEY", "THEN", "NAME"], keyRows),
    ...(is_released
      ? []
      : ["", "Release it with --keys, which takes all, none, or ids separated by commas."]),
  ];
}

function listUnknown(unknown: Report["unknown_after_restore"]): readonly (readonly string[])[] {
  const rowsOf = (what: string, then: string, records: z.output<typeof Records>) =>
    records.map(({ organization_id, id }) => [organization_id, what, id, then]);
  return [
    ...rowsOf("message", "looked up at the channel", unknown.messages),
    ...unknown.webhook_deliveries.map(({ organization_id, id, webhook_id }) => {
      return [organization_id, "webhook delivery", id, `failed, of ${webhook_id}`];
    }),
    ...rowsOf("broadcast", "paused", unknown.broadcasts),
    ...rowsOf("flow run", "cancelled", unknown.flow_runs),
    ...unknown.jobs.map(({ name, id, organization_id }) => {
      return [organization_id ?? "-", `job ${name}`, id, "set aside"];
    }),
  ];
}
