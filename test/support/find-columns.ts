/** Searches every column of every table for personal data. */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

/** The tables and columns that contain any of these words, except those of the simulated phone. */
export async function findColumns(queries: Queries, words: readonly string[]): Promise<string[]> {
  const like = words.map((word) => `%${word}%`);
  const tables = (await queries.introspection.getTables()).filter(
    ({ name }) => !name.startsWith("simulator_"),
  );
  const found = [];
  for (const { name, columns } of tables) {
    for (const column of columns) {
      const { rows } = await sql`
        select from ${sql.table(name)} where ${sql.ref(column.name)}::text ilike any(${like}::text[]) limit 1
      `.execute(queries);
      found.push(...rows.map(() => `${name}.${column.name}`));
    }
  }
  return found.sort();
}
