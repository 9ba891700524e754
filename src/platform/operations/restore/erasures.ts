/**
 * Repeats erasures from the log outside of the database: a backup has the records that were erased after it.
 *
 * The times of the entries do not matter. A contact that is erased stays erased, so all are repeated, also
 * those of which it is not certain whether the backup has them.
 */
import { z } from "zod";
import { columnsOf, nullable, recordset, rowsOf } from "../../../database/query/index.ts";
import { system, type World } from "../../foundation/kernel/index.ts";
import { eraseKnownContact } from "../../inbox/contacts/index.ts";
import { recordCommand } from "../activity/index.ts";

const id = z.string().min(1).max(64);

export const RepeatInput = z.object({
  contacts: z
    .array(z.object({ organization_id: id, id }))
    .min(1)
    .max(500),
  /** Whether nothing is changed, and `repeated` says how many would be erased. */
  is_preview: z.boolean(),
});

interface RepeatReport {
  /** Contacts that were not erased here. */
  readonly repeated: number;
  /** Contacts that were erased here already. */
  readonly already_erased: number;
  /** Contacts that are not in the database, because they were created after the backup. */
  readonly unknown: number;
}

export async function repeatErasures(
  { contacts, is_preview }: z.output<typeof RepeatInput>,
  world: World,
): Promise<RepeatReport> {
  const { database } = world;
  const columns = columnsOf("contacts", "organization_id", "id");
  const found = await rowsOf({ ...columns, erased_at: nullable("timestamptz") })`
    select contacts.organization_id, contacts.id, contacts.erased_at
    from ${recordset("entry", columns, contacts)}
    join contacts on contacts.organization_id = entry.organization_id and contacts.id = entry.id
  `.execute(database.queries);
  const rest = found.rows.filter(({ erased_at }) => erased_at === null);
  const repeated = is_preview ? rest.length : await repeatAll(world, rest);
  return {
    repeated,
    already_erased: found.rows.length - repeated,
    unknown: contacts.length - found.rows.length,
  };
}

interface ContactRecord {
  readonly organization_id: string;
  readonly id: string;
}

/** Returns how many were erased. */
async function repeatAll(world: World, contacts: readonly ContactRecord[]): Promise<number> {
  let count = 0;
  for (const { organization_id, id: contact_id } of contacts) {
    const isErased = await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system };
      const isNew = await eraseKnownContact(change, { organization_id, contact_id });
      if (isNew) {
        recordCommand(tx, world, { organization_id, name: "repeat-erasures", ids: [contact_id] });
      }
      return isNew;
    });
    count += isErased ? 1 : 0;
  }
  return count;
}
