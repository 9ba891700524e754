/** Where a contact can be written to. A channel has one or several kinds of addresses. */
import { type RawBuilder, sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { AddressKind, ChannelAddress, Identities } from "../../../../ports/channel/address.ts";
import { addressKinds, capabilitiesOf } from "../../../account/inboxes/index.ts";
import { phoneKind } from "../../../account/phone/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";

/** The address of a person on a channel with these kinds of addresses; undefined without one. */
export function addressAmong(
  kinds: readonly AddressKind[],
  identities: Identities,
): ChannelAddress | undefined {
  for (const { kind } of kinds) {
    const value = identities[kind];
    if (value) {
      return { kind, value };
    }
  }
  return undefined;
}

interface AddressedContact {
  readonly organization_id: string;
  readonly id: string;
  readonly phone_number: string | null;
}

interface ContactOnChannel {
  readonly contact: AddressedContact;
  readonly channel: string;
}

/**
 * The address of a contact on a channel; undefined without one. A contact whose number is used costs no
 * statement.
 */
export async function findAddress(
  db: Queries,
  world: Pick<World, "channels">,
  { contact, channel }: ContactOnChannel,
): Promise<ChannelAddress | undefined> {
  const kinds = capabilitiesOf(world, { channel }).addresses;
  if (kinds[0]?.kind === phoneKind && contact.phone_number !== null) {
    return { kind: phoneKind, value: contact.phone_number };
  }
  const rows = await ofOrganization(db, contact.organization_id)
    .selectFrom("contact_identities")
    .select(["kind", "value"])
    .where("contact_id", "=", contact.id)
    .orderBy("created_at")
    .execute();
  // Among several identities of a kind, the latest stays.
  const ids = Object.fromEntries(rows.map(({ kind, value }) => [kind, value]));
  return addressAmong(kinds, { ...ids, [phoneKind]: contact.phone_number });
}

/** @throws Failure `contact_unreachable`. */
export async function requireAddress(
  db: Queries,
  world: Pick<World, "channels">,
  addressed: ContactOnChannel,
): Promise<ChannelAddress> {
  const address = await findAddress(db, world, addressed);
  if (!address) {
    throw fail("contact_unreachable");
  }
  return address;
}

/** The address of a row of `contacts` as text, as part of a statement; null without one. */
export function selectAddress(kinds: readonly AddressKind[]): RawBuilder<string | null> {
  const values = kinds.map(({ kind }) =>
    kind === phoneKind
      ? sql`contacts.phone_number`
      : sql`(
          select value from contact_identities as id
          where id.organization_id = contacts.organization_id and id.contact_id = contacts.id and id.kind = ${kind}
          order by id.created_at desc limit 1
        )`,
  );
  return sql`coalesce(${sql.join([...values, sql`null`])})`;
}

/** Whether a row of `contacts` has an address on any channel, as part of a statement. */
export function hasAddress(world: Pick<World, "channels">): RawBuilder<boolean> {
  return sql`(${selectAddress(addressKinds(world))}) is not null`;
}
