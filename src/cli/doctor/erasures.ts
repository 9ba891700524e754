/** Checks the log of erasures: whether there is one, whether it can be written, and what is not in it yet. */
import { checkErasureLog } from "../../adapters/storage/index.ts";
import type { Config } from "../../config/index.ts";
import type { Queries } from "../../database/database.ts";
import { countFailing } from "../../jobs/gauges.ts";
import { messageOf } from "../commands/command-error.ts";
import { about, type Finding } from "./finding.ts";

const { ok, warning, problem } = about("erasure_log");

export async function checkErasures({ erasureLog, databaseUrl }: Config): Promise<readonly Finding[]> {
  if (erasureLog === undefined) {
    // An embedded database is for development and small installations.
    return databaseUrl === undefined
      ? []
      : [
          warning(
            "Erasures are logged only in the database: a restored backup has the contacts again that were erased after it.",
            "Set TIDINGS_ERASURE_LOG to a file on another disk (docs/backup.md).",
          ),
        ];
  }
  try {
    await checkErasureLog(erasureLog);
    return [ok(`The log of erasures, ${erasureLog}, can be written.`)];
  } catch (error) {
    return [
      problem(
        `The log of erasures can't be written: ${messageOf(error)}.`,
        "Correct the path or the permissions. Erasures are written to it within an hour then.",
      ),
    ];
  }
}

/** Erasures that could not be written to the log yet. */
export async function checkUnloggedErasures(queries: Queries): Promise<readonly Finding[]> {
  const count = await countFailing(queries, "erasure.record");
  return count === 0
    ? []
    : [
        warning(
          `${count} ${count === 1 ? "erasure is" : "erasures are"} not in the log yet: the last attempt to write it failed.`,
          "See the service's log for the reason. They are written within an hour after it is corrected.",
        ),
      ];
}
