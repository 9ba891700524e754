/** Reads the log of erasures, which is outside of the database, and repeats them in a restored service. */
import { resolve } from "node:path";
import { z } from "zod";
import { type ErasureRecord, readErasureLog } from "../../../adapters/storage/index.ts";
import type { Config } from "../../../config/index.ts";
import { CommandError, messageOf } from "../../commands/command-error.ts";
import type { CommandSender } from "../send.ts";

export interface KnownErasures extends Pick<ErasureRecord, "begun_at" | "erasures"> {
  /** The name of the log; null: no erasure is known. */
  readonly log: string | null;
}

/** As many as the service takes at once. */
const batchSize = 500;

const noErasures: KnownErasures = { log: null, begun_at: undefined, erasures: [] };

/**
 * Reads the log of the settings, or another one.
 * @param option `none`, or the path of the log.
 * @throws CommandError if it can't be read as a whole.
 */
export async function readErasures({ erasureLog }: Config, option?: string): Promise<KnownErasures> {
  const log = option === undefined || option === "none" ? option : resolve(option);
  const place = log ?? erasureLog;
  if (place === undefined || place === "none") {
    return noErasures;
  }
  const read = await readErasureLog(place).catch((cause: unknown) => {
    throw new CommandError(`The log of erasures can't be read: ${messageOf(cause)}.`, { cause });
  });
  if (read === undefined) {
    throw new CommandError(
      `There is no log of erasures at ${place}. Copy the log of the old service there, or name another with --erasures. With --erasures none, contacts that were erased after the backup are in the service again.`,
    );
  }
  const [line] = read.unreadable;
  if (line !== undefined) {
    throw new CommandError(
      `Line ${line} of ${place} is no erasure: it was cut off or changed. Use another copy of the log if you have one. Otherwise remove the line, and after the release erase the contact of which it has the id.`,
    );
  }
  return { log: place, ...read };
}

const Counts = z.object({ repeated: z.number(), already_erased: z.number(), unknown: z.number() });

export interface RepeatedErasures extends z.output<typeof Counts> {
  readonly log: string | null;
  /** What the operator must know before people use the service. */
  readonly warning: string | null;
}

/** Repeats the erasures in the held service, or says how many would be repeated. */
export async function eraseAgain(
  send: CommandSender,
  known: KnownErasures,
  { is_preview, backupMadeAt }: { readonly is_preview: boolean; readonly backupMadeAt: string | null },
): Promise<RepeatedErasures> {
  const contacts = [...new Map(known.erasures.map((erasure) => [erasure.id, erasure])).values()];
  const counts = { repeated: 0, already_erased: 0, unknown: 0 };
  for (let start = 0; start < contacts.length; start += batchSize) {
    const batch = contacts.slice(start, start + batchSize);
    const named = batch.map(({ organization_id, id }) => ({ organization_id, id }));
    const answer = Counts.parse(await send("repeat-erasures", { contacts: named, is_preview }));
    counts.repeated += answer.repeated;
    counts.already_erased += answer.already_erased;
    counts.unknown += answer.unknown;
  }
  return { log: known.log, ...counts, warning: warn(known, backupMadeAt) };
}

function warn({ log, begun_at }: KnownErasures, backupMadeAt: string | null): string | null {
  if (log === null) {
    return "No log of erasures was given: contacts that were erased after the backup are in it again. Name the log with --erasures or TIDINGS_ERASURE_LOG, or erase them again.";
  }
  const isComplete = begun_at !== undefined && (backupMadeAt === null || begun_at <= backupMadeAt);
  return isComplete
    ? null
    : `${log} ${begun_at === undefined ? "does not say when it begins" : `begins at ${begun_at}`}, and the backup was made at ${backupMadeAt}: contacts that were erased between are in it again. Name another log with --erasures, or erase them again.`;
}

export function describeErasures(
  { log, repeated, unknown, warning }: RepeatedErasures,
  isDone: boolean,
): string[] {
  const counted = `${repeated.toLocaleString("en")} contact${repeated === 1 ? "" : "s"}`;
  const counts = isDone
    ? `Erased again: ${counted} of the log ${log}.`
    : `A release erases ${counted} again, from the log ${log}.`;
  const absent =
    unknown === 0
      ? ""
      : ` ${unknown.toLocaleString("en")} of its entries are of contacts that the backup does not have.`;
  return [
    ...(warning === null ? [] : [`Warning: ${warning}`]),
    ...(log === null ? [] : [counts + absent]),
    "",
  ];
}
