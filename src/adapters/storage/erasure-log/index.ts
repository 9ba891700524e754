/** Opens the log of erasures, which repeats them after a restore. */
import type { Clock } from "../../../ports/clock.ts";
import type { ErasureLog } from "../../../ports/files/erasure-log.ts";
import type { Log } from "../../../ports/telemetry/log.ts";
import { createErasureFile } from "./file.ts";
import { type ErasureRecord, parseErasures } from "./lines.ts";
import type { ErasurePlace } from "./place.ts";

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
  const place = openErasurePlace(erasureLog);
  if (backupMadeAt === undefined) {
    place.begin(now().toISOString()).catch((error: unknown) => {
      log.error({ erasure_log: place.name, err: error }, "The log of erasures can't be written");
    });
  }
  return place;
}

/** @returns undefined if there is no such log. */
export async function readErasureLog(place: string): Promise<ErasureRecord | undefined> {
  const text = await openErasurePlace(place).read();
  return text === undefined ? undefined : parseErasures(text);
}

/** @throws if it can't be written. Changes nothing. */
export async function checkErasureLog(place: string): Promise<void> {
  await openErasurePlace(place).check();
}

function openErasurePlace(place: string): ErasurePlace {
  return createErasureFile(place);
}
