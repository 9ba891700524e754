/** The generated files: their texts, and whether they match the present migrations. */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Queries } from "../../src/database/database.ts";
import { folder, generatedFiles, readDeclarations } from "./read-declarations.ts";
import { readColumns } from "./read-tables.ts";
import { renderSqlTypes, renderTables } from "./render.ts";

type Texts = Readonly<Record<(typeof generatedFiles)[number], string>>;

const migrationsFolder = "src/database/migrations";

/** The texts of the files for a migrated database. */
export async function renderFiles(queries: Queries): Promise<Texts> {
  const columns = await readColumns(queries);
  return {
    "sql-types.ts": `${format(renderSqlTypes(columns))}\n/** Of the migrations and the declarations that this file was made from. */\nexport const digest = "${digest()}";\n`,
    "tables.ts": format(renderTables(columns, readDeclarations())),
  };
}

export function readFiles(): Texts {
  return { "sql-types.ts": read("sql-types.ts"), "tables.ts": read("tables.ts") };
}

export function writeFiles(texts: Texts): void {
  for (const name of generatedFiles) {
    writeFileSync(join(folder, name), texts[name]);
  }
}

/** Whether the files were made from the present sources. */
export function isCurrent(): boolean {
  return read("sql-types.ts").includes(digest());
}

function read(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

/** The digest of the migrations and the declarations. */
function digest(): string {
  const { members, exports } = readDeclarations();
  const migrations = readdirSync(migrationsFolder).sort();
  const texts = migrations.map((name) => readFileSync(join(migrationsFolder, name), "utf8"));
  return hash("sha256", JSON.stringify([texts, [...members], [...exports]])).slice(0, 16);
}

function format(code: string): string {
  const biome = "node_modules/@biomejs/biome/bin/biome";
  const args = [biome, "format", `--stdin-file-path=${join(folder, "tables.ts")}`];
  return execFileSync(process.execPath, args, { input: code, encoding: "utf8" });
}
