/** The name of the archive of an empty database, which the build makes. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { migrations } from "../migrations/index.ts";

/**
 * The name contains the engine and the schema: files of another engine can't be opened, and files of another
 * schema would be of no use. Each version of PGlite contains one version of PostgreSQL.
 */
export function archiveName(): string {
  const program = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const { version } = PackageFile.parse(
    JSON.parse(readFileSync(join(dirname(program), "../package.json"), "utf8")),
  );
  return `database-pglite-${version}-${Object.keys(migrations).at(-1)}.tar.gz`;
}

const PackageFile = z.object({ version: z.string() });
