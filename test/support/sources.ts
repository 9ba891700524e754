/** The sources of the repository: their imports, and the tables that they write and read. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Source {
  readonly path: string;
  readonly text: string;
  /** The paths of the files that it imports. */
  readonly imports: readonly string[];
}

export async function readSources(...folders: string[]): Promise<Source[]> {
  const entriesByFolder = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })));
  const paths = entriesByFolder.flatMap((entries, index) =>
    entries.filter((entry) => entry.endsWith(".ts")).map((entry) => join(folders[index] ?? "", entry)),
  );
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, "utf8");
      const specifiers = [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, name]) => name ?? "");
      return { path, text, imports: specifiers.map((name) => join(dirname(path), name)) };
    }),
  );
}

/** The tables that a source writes, by Kysely or in SQL. */
export function writtenTables(text: string): string[] {
  const kysely = /\.(?:insertInto|updateTable|deleteFrom)\(\s*"(\w+)"|insertAll\(\s*[\w.]+,\s*"(\w+)"/g;
  const statement = /\b(?:insert into|delete from) (\w+)|\bupdate (\w+)(?: as \w+)?\s+set\b/g;
  return [...text.matchAll(kysely), ...text.matchAll(statement)].map(([, one, other]) => one ?? other ?? "");
}

/** A table is named by a variable. */
export const namesVariable = /\bsql\.table\([^")]|\.(?:selectFrom|\w+Join)\([a-z]\w*[,)]/;

/** The tables that a source reads, by Kysely or in SQL. */
export function readTables(text: string, names: ReadonlySet<string>): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  const kysely = code.matchAll(/\.(?:selectFrom|\w+Join|using|from)\(\s*(\[[^\]]*\]|"[^"]*")/g);
  const calls = [...kysely].flatMap(([, tables = ""]) =>
    [...tables.matchAll(/"(\w+)/g)].map(([, name]) => name),
  );
  const statements = code.replace(/"[^"\n]*"/g, '""');
  const first = statements.matchAll(/\b(?:from|join|using)\s+(\w+)/g);
  const second = statements.matchAll(/\bfrom\s+\w+(?:\s+as)?(?:\s+\w+)?,\s*(\w+)/g);
  const literals = namesVariable.test(code) ? [...code.matchAll(/"(\w+)"/g)].map(([, name]) => name) : [];
  const raw = [...first, ...second].map(([, name]) => name);
  const found = [...calls, ...raw, ...literals];
  return [...new Set(found.filter((name) => name !== undefined && names.has(name)))] as string[];
}
