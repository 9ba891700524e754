/** Some rows of an import: what they say is written, and how far it is, in one transaction. */
import { sql } from "kysely";
import { type Person, type Upserted, upsertContacts } from "../contacts/index.ts";
import type { World } from "../kernel/index.ts";
import type { CsvRow } from "./csv.ts";
import { type Columns, Rejected, readPerson } from "./row.ts";

/** Names one import; what its job is given. */
export interface ImportId {
  readonly organization_id: string;
  readonly import_id: string;
}

export interface Batch {
  readonly columns: Columns;
  readonly rows: readonly CsvRow[];
  /** Rows before it. */
  readonly before: number;
}

/** Of the rows that were rejected so many are told. */
const keptErrors = 1_000;

interface ReadRow {
  readonly line: number;
  /** Or why it is rejected. */
  readonly person: Person | string;
}

/** @throws Error when another run has done these rows. */
export async function commitBatch(id: ImportId, world: World, { columns, rows, before }: Batch) {
  const read = rows.map(({ line, cells }): ReadRow => ({ line, person: readOrReason(columns, cells) }));
  const now = world.now();
  await world.database.transaction(async (tx) => {
    const { position, rejected } = await tx
      .selectFrom("imports")
      .select(["position", "rejected"])
      .where("organization_id", "=", id.organization_id)
      .where("id", "=", id.import_id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (position !== before) {
      throw new Error(`import ${id.import_id} is at ${position} and not at ${before}: another run has it`);
    }
    const people = read.flatMap(({ person }) => (typeof person === "string" ? [] : person));
    const outcomes = await upsertContacts(tx, id.organization_id, people, now);
    const errors = reasons(read, new Map(people.map((person, index) => [person, outcomes[index]])));
    const count = (wanted: Upserted) => outcomes.filter((outcome) => outcome === wanted).length;
    await tx
      .updateTable("imports")
      .set((row) => ({
        position: before + rows.length,
        created: row("created", "+", count("created")),
        updated: row("updated", "+", count("updated")),
        rejected: rejected + errors.length,
        // Appended, for what is there may be long.
        ...(errors.length > 0 && rejected < keptErrors
          ? {
              errors: sql<string>`errors || ${JSON.stringify(errors.slice(0, keptErrors - rejected))}::jsonb`,
            }
          : {}),
        updated_at: now.toISOString(),
      }))
      .where("organization_id", "=", id.organization_id)
      .where("id", "=", id.import_id)
      .execute();
  });
}

/** Why a person that could be read was not taken; undefined if it was. */
const refusals: Readonly<Record<Upserted, string | undefined>> = {
  created: undefined,
  updated: undefined,
  too_many_tags: "With these tags the contact would have more than 200: take some off first.",
  too_much_metadata:
    "With these attributes the contact would have more than 16384 characters of them: take some off first.",
};

function reasons(read: readonly ReadRow[], outcomes: ReadonlyMap<Person, Upserted | undefined>) {
  return read.flatMap(({ line, person }) => {
    const reason = typeof person === "string" ? person : refusals[outcomes.get(person) ?? "updated"];
    return reason === undefined ? [] : { line, reason };
  });
}

function readOrReason(columns: Columns, cells: readonly string[]): Person | string {
  try {
    return readPerson(columns, cells);
  } catch (error) {
    if (error instanceof Rejected) {
      return error.message;
    }
    throw error;
  }
}
