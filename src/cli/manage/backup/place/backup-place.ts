/** Where a backup is. */
import type { ContentReport } from "../content.ts";

/** A backup that was written to a file: what is in it, and what is wrong with it. */
export interface MadeBackup {
  readonly report: ContentReport & Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

export interface BackupPlace {
  /** Its name in reports and errors. */
  readonly name: string;
  /**
   * Lets `make` write a backup to a file that does not exist, and brings it here.
   * @throws UsageError if something is here already: no backup is overwritten.
   */
  write(make: (path: string) => Promise<MadeBackup>): Promise<MadeBackup>;
  /** @throws UsageError if there is nothing that can be read. */
  read(): Promise<AsyncIterable<Uint8Array>>;
}
