/** Opens the log of erasures, which repeats them after a restore. */
import type { Clock } from "../../../ports/clock.ts";
import type { ErasureLog } from "../../../ports/files/erasure-log.ts";
import type { Log } from "../../../ports/telemetry/log.ts";
import { createErasureFile } from "./file.ts";
import { type ErasureRecord, parseErasures } from "./lines.ts";

export type { ErasureRecord } from "./lines.ts";

interface ErasureLogOptions {
  /** The path of the file; undefined: there is no log. */
  readonly erasureLog: string | undefined;
  /** Defined while the service is held after a restore. */
  readonly backupMadeAt: string | undefined;
  readonly now: Clock;
  readonly log: Log;
}

/**
 * Also begins a log that does not exist, except while the service is held: an empty log beside a restored
 * database would look as if nothing had been erased.
 */
export function openErasureLog({
  erasureLog,
  backupMadeAt,
  now,
  log,
}: ErasureLogOptions): ErasureLog | undefined {
  if (erasureLog === undefined) {
    return undefined;
  }
  const file = createErasureFile(erasureLog);
  if (backupMadeAt === undefined) {
    file.begin(now().toISOString()).catch((error: unknown) => {
      log.error({ erasure_log: erasureLog, err: error }, "The log of erasures can't be written");
    });
  }
  return file;
}

/** @returns undefined if there is no such log. */
export async function readErasureLog(path: string): Promise<ErasureRecord | undefined> {
  const text = await createErasureFile(path).read();
  return text === undefined ? undefined : parseErasures(text);
}

/** @throws if it can't be written. Changes nothing. */
export async function checkErasureLog(path: string): Promise<void> {
  await createErasureFile(path).check();
}
