/** Writes a batch of an import's rows and the import's progress in one transaction. */
import { sql } from "kysely";
import { z } from "zod";
import { maxMetadata } from "../../../../tools/contract/index.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { getPhoneRegion } from "../../account/inboxes/index.ts";
import type { PhoneRegion } from "../../account/phone/index.ts";
import { countLaterContacts, type LaterBudgets } from "../../account/rules/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import {
  type ContactInput,
  maxTags,
  type UpsertOutcome,
  upsertContacts,
} from "../../inbox/contacts/index.ts";
import type { CsvRow } from "./csv.ts";
import { type ImportColumns, RejectedRowError, readContact } from "./row.ts";

/** Identifies an import; the payload of its job. */
export const ImportId = z.object({ organization_id: z.string(), import_id: z.string() });
export type ImportId = Readonly<z.infer<typeof ImportId>>;

export interface Batch {
  readonly columns: ImportColumns;
  readonly rows: readonly CsvRow[];
  /** The number of rows before the batch. */
  readonly start: number;
}

/** Further rejected rows are counted, but not listed. */
const maxErrors = 1_000;

interface ReadRow {
  readonly line: number;
  /** A text is the reason why the row is rejected. */
  readonly contact: ContactInput | string;
}

/** @throws Error if another run of the job has committed these rows; Failure `budget_reached`. */
export async function commitBatch(
  id: ImportId & LaterBudgets,
  world: World,
  { columns, rows, start }: Batch,
) {
  const region = await getPhoneRegion(world.database.queries, id.organization_id);
  const readRows = rows.map(
    ({ line, cells }): ReadRow => ({ line, contact: readContactOrReason(columns, cells, region) }),
  );
  const now = world.now();
  await world.database.transaction(async (tx) => {
    const { position, rejected } = await ofOrganization(tx, id.organization_id)
      .selectFrom("imports")
      .select(["position", "rejected"])
      .where("id", "=", id.import_id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (position !== start) {
      throw new Error(
        `Import ${id.import_id} is at row ${position} instead of ${start}: another process runs it.`,
      );
    }
    const contacts = readRows.flatMap(({ contact }) => (typeof contact === "string" ? [] : contact));
    const change = { tx, organization: id.organization_id, now };
    const countNew = await countLaterContacts(change, id);
    const outcomes = await upsertContacts(tx, id.organization_id, contacts, { now, countNew });
    const errors = listErrors(
      readRows,
      new Map(contacts.map((contact, index) => [contact, outcomes[index]])),
    );
    const count = (outcome: UpsertOutcome) => outcomes.filter((other) => other === outcome).length;
    await ofOrganization(tx, id.organization_id)
      .updateTable("imports")
      .set((row) => ({
        position: start + rows.length,
        created: row("created", "+", count("created")),
        updated: row("updated", "+", count("updated")),
        rejected: rejected + errors.length,
        // Appended by the database, because the list may be long.
        ...(errors.length > 0 && rejected < maxErrors
          ? {
              errors: sql<string>`errors || ${JSON.stringify(errors.slice(0, maxErrors - rejected))}::jsonb`,
            }
          : {}),
        updated_at: now.toISOString(),
      }))
      .where("id", "=", id.import_id)
      .execute();
  });
}

/** Why a valid row was rejected; undefined if it was not. */
const rejectionReasons: Readonly<Record<UpsertOutcome, string | undefined>> = {
  created: undefined,
  updated: undefined,
  too_many_tags: `With these tags the contact would have more than ${maxTags}: remove some first.`,
  too_much_metadata: `With these attributes the contact's metadata would exceed ${maxMetadata} characters: remove some first.`,
};

function listErrors(
  rows: readonly ReadRow[],
  outcomes: ReadonlyMap<ContactInput, UpsertOutcome | undefined>,
) {
  return rows.flatMap(({ line, contact }) => {
    const reason =
      typeof contact === "string" ? contact : rejectionReasons[outcomes.get(contact) ?? "updated"];
    return reason === undefined ? [] : { line, reason };
  });
}

function readContactOrReason(
  columns: ImportColumns,
  cells: readonly string[],
  region: PhoneRegion,
): ContactInput | string {
  try {
    return readContact(columns, cells, region);
  } catch (error) {
    if (error instanceof RejectedRowError) {
      return error.message;
    }
    throw error;
  }
}
