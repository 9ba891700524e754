/**
 * The port to the log of erasures, which is kept outside of the database, so that a database that was
 * restored from a backup can erase again what was erased after the backup. Called outside any transaction.
 */

/** The erasure of one record. It holds ids alone, and no personal data. */
export interface LoggedErasure {
  readonly kind: "contact";
  readonly organization_id: string;
  readonly id: string;
  /** When it was erased, in ISO 8601. */
  readonly at: string;
}

export interface ErasureLog {
  /** Resolves when the entry is on the disk. Safe to repeat: an entry may be there twice. */
  append(erasure: LoggedErasure): Promise<void>;
}
