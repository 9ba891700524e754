/**
 * The format of a backup: a gzipped tar archive, encrypted with age unless `--plain` is given.
 *
 * 1. `manifest.json`: the version of the format, and the tables with their columns.
 * 2. `tables/<table>/<number>.ndjson`: rows, each a JSON array with the text of every column, or null.
 * 3. `files/<key>`: the uploaded files.
 * 4. `end.json`: how much there is. A backup without it is not complete.
 */
import { createHash } from "node:crypto";
import { z } from "zod";

export const formatVersion = 1;

export const manifestName = "manifest.json";
export const endName = "end.json";
export const fileFolder = "files/";

const Name = z.string().regex(/^[a-z_][a-z\d_]{0,62}$/);

export const ManifestSchema = z.object({
  format: z.literal("tidings-backup"),
  format_version: z.int().positive(),
  tidings_version: z.string(),
  engine: z.enum(["embedded", "postgres"]),
  created_at: z.iso.datetime(),
  /** All that have run, the last of which is the version of the schema. */
  migrations: z.array(z.string().max(200)).min(1).max(10_000),
  /** Identifies the secret that opens the sealed values, without showing it. */
  secret: z.object({ fingerprint: z.string(), is_generated: z.boolean() }),
  tables: z
    .array(z.object({ name: Name, columns: z.array(z.object({ name: Name, type: z.string() })).max(1_600) }))
    .max(10_000),
  sequences: z
    .array(
      z.object({
        name: Name,
        value: z
          .string()
          .regex(/^-?\d+$/)
          .nullable(),
      }),
    )
    .max(10_000),
});

export type Manifest = z.output<typeof ManifestSchema>;

export const EndSchema = z.object({
  /** Rows by table. */
  rows: z.record(Name, z.int().min(0)),
  files: z.int().min(0),
  /** Keys of files that the database names, but that the storage does not have or can't read. */
  missing_files: z.array(z.string()),
  /** Keys of files whose content was not that of the upload. */
  damaged_files: z.array(z.string()),
});

export type BackupEnd = z.output<typeof EndSchema>;

/** `tables/contacts/000001.ndjson` */
export function rowsName(table: string, part: number): string {
  return `tables/${table}/${String(part).padStart(6, "0")}.ndjson`;
}

/** The table of an entry that `rowsName` named. */
export function tableOf(entry: string): string | undefined {
  return /^tables\/([a-z_][a-z\d_]*)\/\d+\.ndjson$/.exec(entry)?.[1];
}

export function fingerprintOf(secret: string): string {
  return createHash("sha256").update(`fingerprint:${secret}`).digest("base64url").slice(0, 16);
}
