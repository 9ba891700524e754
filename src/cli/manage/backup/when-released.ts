/** Starts the jobs of a service, and of a restored one when the operator releases it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RestoreHold } from "../../../platform/operations/restore/index.ts";
import type { Log } from "../../../ports/telemetry/log.ts";

/** How often a held process looks for the release, which may be in another process. */
const pollMs = 1_000;

interface HeldService extends RestoreHold {
  readonly log: Log;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** Calls `start` at once, or after the release. Returns before the release. */
export async function whenReleased(
  { isHeld, backupMadeAt, log, signal }: HeldService,
  start: () => void,
): Promise<void> {
  if (!(await isHeld())) {
    start();
    return;
  }
  log.warn(
    { backup_made_at: backupMadeAt },
    "This service was restored from a backup and is held: it answers no request and runs no job. Run tidings release.",
  );
  const wait = async () => {
    // While the database is away, nothing is released.
    while (await isHeld().catch(() => true)) {
      await sleep(pollMs, undefined, { signal, ref: false });
    }
    log.info({}, "released: jobs start");
    start();
  };
  // The sleep fails when the service stops.
  wait().catch(() => undefined);
}
