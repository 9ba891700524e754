/** Gives a contact the number or the channel's id that the person has from now on. */
import { sql } from "kysely";
import { columnsOf, ofOrganization, rowsOf } from "../../../database/query/index.ts";
import type { IdentityMove } from "../../../ports/channel/address.ts";
import { countryOf } from "../../account/phone/index.ts";
import type { Change } from "../../foundation/kernel/index.ts";
import { normalizedAtAfterChange } from "./conditions/index.ts";
import { emitUpdated, isUpdateListenedTo } from "./emit.ts";
import { idOfOwner } from "./find/index.ts";
import { type Identity, identitiesOf, shownIdentities } from "./identities/index.ts";
import { searchTextOf } from "./search.ts";

/**
 * The contact loses its former number and id, and gets the new ones unless another contact has them. Returns
 * the id of the contact; undefined if there is none, or if it has moved already.
 */
export async function moveIdentities(
  { tx, world, now, actor }: Change,
  organization: string,
  { from, to }: Pick<IdentityMove, "from" | "to">,
): Promise<string | undefined> {
  const contact = await findOwner(tx, organization, identitiesOf(from));
  const rest = identitiesOf(to);
  if (contact === undefined || rest.length === 0) {
    return contact?.id;
  }
  const { id: contact_id, name, phone_number, username } = contact;
  const kinds: ReadonlySet<string> = new Set(rest.map(({ kind }) => kind));
  // The channel's own form of the number goes with the number.
  const lost = kinds.has("phone") ? [...kinds, "wa_id"] : [...kinds];
  const taken = await rowsOf(columnsOf("contact_identities", "kind", "contact_id"))`
    select kind, contact_id from contact_identities
    where organization_id = ${organization} and contact_id <> ${contact_id}
      and (kind, value) in (${sql.join(rest.map(({ kind, value }) => sql`(${kind}, ${value})`))})
  `.execute(tx);
  if (taken.rows.length > 0) {
    world.log.warn(
      { organization_id: organization, contact_id, taken: taken.rows },
      "The new number or id of a contact belongs to another contact and was not moved",
    );
    return contact_id;
  }
  await ofOrganization(tx, organization)
    .deleteFrom("contact_identities")
    .where("contact_id", "=", contact_id)
    .where("kind", "in", lost)
    .execute();
  const created_at = now.toISOString();
  const shown = shownIdentities(to, kinds);
  await tx
    .insertInto("contact_identities")
    .values(rest.map((identity) => ({ organization_id: organization, contact_id, created_at, ...identity })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const moved = await ofOrganization(tx, organization)
    .updateTable("contacts")
    .set({
      ...shown,
      ...(to.phone ? { country: countryOf(to.phone) } : {}),
      search_text: searchTextOf(name, shown.phone_number ?? phone_number, shown.username ?? username),
      normalized_at: normalizedAtAfterChange(now),
      updated_at: created_at,
    })
    .where("id", "=", contact_id)
    .returning(["organization_id", "id", "opted_out", "blocked_at"])
    .returning(isUpdateListenedTo.as("is_listened_to"))
    .executeTakeFirstOrThrow();
  if (moved.is_listened_to && kinds.has("phone")) {
    emitUpdated({ tx, actor }, moved, ["phone_number"]);
  }
  return contact_id;
}

/** Locked until the commit; the first identity that has an owner decides. */
async function findOwner(tx: Change["tx"], organization: string, identities: readonly Identity[]) {
  for (const identity of identities) {
    const owner = await ofOrganization(tx, organization)
      .selectFrom("contacts")
      .select(["id", "name", "phone_number", "username"])
      .where("id", "=", idOfOwner(organization, identity))
      .where("erased_at", "is", null)
      .forUpdate()
      .executeTakeFirst();
    if (owner) {
      return owner;
    }
  }
  return undefined;
}
