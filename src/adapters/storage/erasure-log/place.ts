/** Where a log of erasures is. */
import type { LoggedErasure } from "../../../ports/files/erasure-log.ts";

export interface ErasurePlace {
  /** Its name in errors. */
  readonly name: string;
  /** Writes from when on the log has every erasure, unless the log exists. */
  begin(at: string): Promise<void>;
  /** As in `ErasureLog`. A log that does not exist begins with the erasure. */
  append(erasure: LoggedErasure): Promise<void>;
  /** Its lines; undefined if it does not exist. */
  read(): Promise<string | undefined>;
  /** @throws if it can't be written. Writes nothing. */
  check(): Promise<void>;
}
