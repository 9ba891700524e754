/** Adds the contacts of a batch of lines to a csv cohort and stores the progress, in one transaction. */
import { sql } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../database/query/index.ts";
import { getPhoneRegion } from "../../account/inboxes/index.ts";
import type { PhoneRegion } from "../../account/phone/index.ts";
import { countLaterContacts, LaterBudgets } from "../../account/rules/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { type ContactInput, findContactIds, upsertContacts } from "../../inbox/contacts/index.ts";
import { type Batch, type ImportColumns, RejectedRowError, readContact } from "../imports/index.ts";

/** The payload of the job that builds a cohort. */
export const CohortBuild = z.object({
  organization_id: z.string(),
  cohort_id: z.string(),
  /** The file, if it was uploaded. */
  upload_id: z.string().nullable(),
  /** The key or the user that created the cohort, and owns a file that is fetched. */
  credential_id: z.string(),
  /** Whether the creator may create contacts. */
  may_create: z.boolean(),
  ...LaterBudgets.shape,
});
export type CohortBuild = z.infer<typeof CohortBuild>;

/** Further rejected lines are counted, but not listed. */
const maxErrors = 1_000;

interface Line {
  readonly line: number;
  /** A text is the reason why the line is rejected. */
  readonly contact: ContactInput | string;
}

/** @throws Error if another run of the job has committed these lines; Failure `budget_reached`. */
export async function commitLines(payload: CohortBuild, world: World, { columns, rows, start }: Batch) {
  const { organization_id, cohort_id } = payload;
  const region = await getPhoneRegion(world.database.queries, organization_id);
  const lines = rows.map(
    ({ line, cells }): Line => ({ line, contact: readOrReason(columns, cells, region) }),
  );
  const now = world.now();
  await world.database.transaction(async (tx) => {
    const cohort = await ofOrganization(tx, organization_id)
      .selectFrom("cohorts")
      .select(["position", "rejected"])
      .where("id", "=", cohort_id)
      .forUpdate()
      .executeTakeFirst();
    if (!cohort) {
      // The cohort was deleted: the rest of the file is read without an effect.
      return;
    }
    if (cohort.position !== start) {
      throw new Error(
        `Cohort ${cohort_id} is at line ${cohort.position} instead of ${start}: another process builds it.`,
      );
    }
    const contacts = lines.flatMap(({ contact }) => (typeof contact === "string" ? [] : contact));
    const ids = await findOrCreate(tx, payload, contacts, now);
    const added = await addMembers(tx, payload, [...ids.values()]);
    const errors = lines.flatMap(({ line, contact }) => {
      const reason =
        typeof contact === "string" ? contact : ids.has(contact.phone_number) ? null : unknownNumber;
      return reason === null ? [] : { line, reason };
    });
    await ofOrganization(tx, organization_id)
      .updateTable("cohorts")
      .set((row) => ({
        position: start + rows.length,
        contact_count: row("contact_count", "+", added),
        rejected: cohort.rejected + errors.length,
        // Appended by the database, because the list may be long.
        errors: sql<string>`errors || ${JSON.stringify(errors.slice(0, Math.max(0, maxErrors - cohort.rejected)))}::jsonb`,
        updated_at: now.toISOString(),
      }))
      .where("id", "=", cohort_id)
      .execute();
  });
}

const unknownNumber =
  "No contact has this number, and creating contacts requires the scope contacts:write. Import the file with a key that holds it (import_contacts), and create the cohort again.";

/**
 * Returns the contact ids by phone number. Existing contacts are not changed; a new contact gets only its
 * number and name.
 */
async function findOrCreate(
  tx: Transaction,
  { organization_id, may_create, ...later }: CohortBuild,
  contacts: readonly ContactInput[],
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const numbers = contacts.map(({ phone_number }) => phone_number);
  const found = await findContactIds(tx, organization_id, numbers);
  const unknown = contacts.filter(({ phone_number }) => !found.has(phone_number));
  if (!may_create || unknown.length === 0) {
    return found;
  }
  const countNew = await countLaterContacts({ tx, organization: organization_id, now }, later);
  await upsertContacts(tx, organization_id, unknown, { now, countNew });
  return findContactIds(tx, organization_id, numbers);
}

/** Returns how many contacts are new members. */
async function addMembers(
  tx: Transaction,
  { organization_id, cohort_id }: CohortBuild,
  ids: readonly string[],
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into cohort_members (organization_id, cohort_id, contact_id)
    select ${organization_id}, ${cohort_id}, id from unnest(${[...new Set(ids)].sort()}::text[]) as id
    on conflict do nothing
  `.execute(tx);
  return Number(numAffectedRows);
}

function readOrReason(
  columns: ImportColumns,
  cells: readonly string[],
  region: PhoneRegion,
): ContactInput | string {
  try {
    return readContact(columns, cells, region);
  } catch (error) {
    if (error instanceof RejectedRowError) {
      return error.anonymous;
    }
    throw error;
  }
}
