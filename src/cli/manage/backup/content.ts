/** Checks the content of a backup while it is read: rows, the ledger, sealed values and files. */
import { createHash } from "node:crypto";
import type { SealedText } from "../../../database/schema/index.ts";
import { type SealingSecrets, tryUnseal } from "../../../platform/foundation/sealing/index.ts";
import { sealedColumns } from "../../../platform/index.ts";
import type { BackupTable } from "./database/index.ts";
import { type BackupEnd, fingerprintOf, type Manifest } from "./manifest.ts";

type Row = Readonly<Record<string, string | null>>;

/** The secrets of the settings, which may open the sealed values. */
export interface ConfiguredSecrets {
  readonly secret: string | undefined;
  readonly previousSecret: string | undefined;
}

/** A file as its upload describes it. */
export interface BackupFile {
  readonly size: number;
  readonly content_type: string;
  readonly file_name: string;
  readonly sha256: string | null;
}

export interface ContentReport {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  readonly missing_files: readonly string[];
  readonly damaged_files: readonly string[];
  /** How many sealed values were opened; null without the secret. */
  readonly sealed_values: number | null;
}

export class ContentCheck {
  readonly #manifest: Manifest;
  readonly #secrets: ConfiguredSecrets;
  readonly #rows = new Map<string, number>();
  readonly #files = new Map<string, BackupFile>();
  /** Movements of the ledger's entries and its balances, by organization, kind of money and account. */
  readonly #ledger = new Map<string, bigint>();
  readonly #problems: string[] = [];
  readonly #damagedFiles = new Set<string>();
  #generatedSecret: string | undefined;
  #fileCount = 0;
  #bytes = 0;
  #opened = 0;
  #unopened = 0;

  constructor(manifest: Manifest, secrets: ConfiguredSecrets) {
    this.#manifest = manifest;
    this.#secrets = secrets;
  }

  /** The key of each stored file, with its size. */
  get files(): ReadonlyMap<string, BackupFile> {
    return this.#files;
  }

  addLine({ name, columns }: BackupTable, line: string): void {
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + 1);
    const values = parseLine(line);
    if (values?.length !== columns.length) {
      this.#problems.push(`A row of ${name} has another form than the manifest says.`);
      return;
    }
    const row = Object.fromEntries(columns.map((column, place) => [column.name, values[place] ?? null]));
    this.#readers[name]?.(row);
    for (const { column, isJson = false, rows } of sealedIn(name)) {
      // A condition selects the values that are still of use, and the others may be of an older secret.
      this.#open(row[column] ?? null, { isJson, mustOpen: rows === undefined });
    }
  }

  /** The upload of the file; undefined if there is none. */
  addFile(key: string, bytes: Uint8Array): BackupFile | undefined {
    const expected = this.#files.get(key);
    this.#fileCount += 1;
    this.#bytes += bytes.length;
    if (expected === undefined) {
      this.#problems.push(`The file ${key} belongs to no upload.`);
    } else if (
      expected.size !== bytes.length ||
      (expected.sha256 !== null && expected.sha256 !== createHash("sha256").update(bytes).digest("hex"))
    ) {
      this.#damagedFiles.add(key);
    }
    return expected;
  }

  /** Keys of files whose content is not that of the upload. */
  get damagedFiles(): ReadonlySet<string> {
    return this.#damagedFiles;
  }

  /** Which secret opens the sealed values; undefined if it is not known. */
  get #secret(): SealingSecrets | undefined {
    const { secret = this.#generatedSecret, previousSecret } = this.#secrets;
    return secret === undefined
      ? undefined
      : { secret, previousSecret, generatedSecret: this.#generatedSecret ?? secret };
  }

  /** Whether a secret is known that was in use when the backup was made. */
  get hasSecret(): boolean {
    const { secret, previousSecret } = this.#secrets;
    return [secret, previousSecret, this.#generatedSecret].some(
      (one) => one !== undefined && fingerprintOf(one) === this.#manifest.secret.fingerprint,
    );
  }

  /** What is wrong with the backup, and what it contains. `end` is undefined if the backup was cut off. */
  finish(end: BackupEnd | undefined): {
    readonly problems: readonly string[];
    readonly report: ContentReport;
  } {
    const problems = [...this.#problems, ...this.#compareLedger()];
    if (end === undefined) {
      problems.push("The backup was not completed: its last entry is missing.");
    }
    for (const [table, count] of Object.entries(end?.rows ?? {})) {
      const found = this.#rows.get(table) ?? 0;
      if (found !== count) {
        problems.push(`${table} has ${found} rows and should have ${count}.`);
      }
    }
    if (end !== undefined && end.files !== this.#fileCount) {
      problems.push(`There are ${this.#fileCount} files and should be ${end.files}.`);
    }
    for (const key of this.#damagedFiles) {
      if (end?.damaged_files.includes(key) === false) {
        problems.push(`The file ${key} has another content than when it was uploaded.`);
      }
    }
    if (this.#unopened > 0 && this.hasSecret) {
      problems.push(`${this.#unopened} sealed values can't be opened with the secret of the backup.`);
    }
    return {
      problems: [...new Set(problems)],
      report: {
        tables: this.#manifest.tables.length,
        rows: [...this.#rows.values()].reduce((sum, count) => sum + count, 0),
        files: this.#fileCount,
        bytes: this.#bytes,
        missing_files: end?.missing_files ?? [],
        damaged_files: end?.damaged_files ?? [],
        sealed_values: this.hasSecret ? this.#opened : null,
      },
    };
  }

  readonly #readers: Readonly<Record<string, (row: Row) => void>> = {
    settings: ({ name, value }) => {
      if (name === "secret" && typeof value === "string") {
        this.#generatedSecret = value;
      }
    },
    uploads: ({ key, status, file_size, sha256 = null, ...name }) => {
      const content_type = name.content_type ?? "";
      const file_name = name.file_name ?? "";
      if (typeof key === "string" && status === "kept") {
        this.#files.set(key, { size: Number(file_size), content_type, file_name, sha256 });
      }
    },
    ledger_entries: ({ from_account, to_account, amount, ...row }) => {
      this.#move(row, String(from_account), -BigInt(amount ?? 0));
      this.#move(row, String(to_account), BigInt(amount ?? 0));
    },
    ledger_balances: ({ organization_id = null, simulated = null, part: _, ...accounts }) => {
      for (const [account, amount] of Object.entries(accounts)) {
        this.#move({ organization_id, simulated }, account, -BigInt(amount ?? 0));
      }
    },
  };

  /** Balances are subtracted from movements, so that a correct ledger has only zeros. */
  #move({ organization_id, simulated }: Row, account: string, amount: bigint): void {
    const place = `${organization_id} ${account}${simulated === "true" ? " (simulated)" : ""}`;
    this.#ledger.set(place, (this.#ledger.get(place) ?? 0n) + amount);
  }

  #compareLedger(): readonly string[] {
    return [...this.#ledger]
      .filter(([, difference]) => difference !== 0n)
      .map(([place]) => `The ledger of ${place} differs from its balance.`);
  }

  #open(text: string | null, { isJson, mustOpen }: { isJson: boolean; mustOpen: boolean }): void {
    const value = text !== null && isJson ? parseJsonString(text) : text;
    const secrets = this.#secret;
    if (value === null || secrets === undefined) {
      return;
    }
    // The text was read from a column of sealed values.
    if (tryUnseal(secrets, value as unknown as SealedText)) {
      this.#opened += 1;
    } else if (mustOpen) {
      this.#unopened += 1;
    }
  }
}

function sealedIn(table: string) {
  return sealedColumns.filter((column) => column.table === table);
}

function parseLine(line: string): readonly (string | null)[] | undefined {
  try {
    const values: unknown = JSON.parse(line);
    const isText = (value: unknown) => value === null || typeof value === "string";
    return Array.isArray(values) && values.every(isText) ? values : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON text that is a string; null for other JSON. */
function parseJsonString(text: string): string | null {
  const value: unknown = JSON.parse(text);
  return typeof value === "string" ? value : null;
}
