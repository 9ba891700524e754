/** Finds the contacts of many phone numbers. */
import { refersTo, rowsOf } from "../../../../database/query/index.ts";
import { phoneKey } from "../../../account/phone/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

/** The ids by number, without the numbers that no contact has. The contacts are locked: an erasure waits. */
export async function findContactIds(
  tx: Transaction,
  organization: string,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await rowsOf({ key: "text", id: "text" })`
    select value as key, id
    from contact_identities
    join contacts on ${refersTo("contact_identities.contact_id", "contacts")}
    where contact_identities.organization_id = ${organization} and kind = 'phone'
      and value = any(${numbers.map(phoneKey)}::text[]) and contacts.erased_at is null
    order by id
    for key share of contacts
  `.execute(tx);
  const ids = new Map(rows.map(({ key, id }) => [key, id]));
  return new Map(
    numbers.flatMap((number) => {
      const id = ids.get(phoneKey(number));
      return id === undefined ? [] : [[number, id] as const];
    }),
  );
}
