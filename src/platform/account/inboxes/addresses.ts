/** The kinds of addresses that channels have: by their texts, and the own addresses of inboxes. */
import { failField } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import type { AddressKind, ChannelAddress } from "../../../ports/channel/address.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { phoneKind } from "../phone/index.ts";
import { capabilitiesOf, channelsThat } from "./channel.ts";
import { normalizePhone } from "./phone-region.ts";

type Channels = Pick<World, "channels">;

/** The kinds of all channels, each one once. */
export function addressKinds({ channels }: Channels): readonly AddressKind[] {
  const kinds = Object.values(channels).flatMap(({ capabilities }) => capabilities.addresses);
  return [...new Map(kinds.map((one) => [one.kind, one])).values()];
}

/** Reads an address of a kind that a channel has, except a phone number, which is written in many ways. */
export function readChannelAddress(world: Channels, text: string): ChannelAddress | undefined {
  const found = addressKinds(world).find(({ kind, pattern }) => kind !== phoneKind && pattern.test(text));
  return found && { kind: found.kind, value: text };
}

/** The address that a message to this channel was stored with. */
export function storedAddress(world: Channels, channel: string, text: string): ChannelAddress {
  const found = capabilitiesOf(world, { channel }).addresses.find(({ pattern }) => pattern.test(text));
  if (!found) {
    throw new Error(`The channel ${channel} has no addresses of the message's form.`);
  }
  return { kind: found.kind, value: text };
}

/** Whether a person may be written to at an address from which nothing has been received yet. */
export function isOpenKind(world: Channels, { kind }: ChannelAddress): boolean {
  return addressKinds(world).some((one) => one.kind === kind && one.isOpen);
}

/** The channels that can write to an address of this kind; undefined if all can. */
export function channelsWithKind(world: Channels, { kind }: ChannelAddress): readonly string[] | undefined {
  const names = channelsThat(world, ({ addresses }) => addresses.some((one) => one.kind === kind));
  return names.length === Object.keys(world.channels).length ? undefined : names;
}

/** @throws Failure `address_not_supported`, `unavailable`. */
export function requireKind(world: Channels, channel: string, { kind, value }: ChannelAddress): void {
  if (!capabilitiesOf(world, { channel }).addresses.some((one) => one.kind === kind)) {
    throw failField("to", "address_not_supported", { value });
  }
}

interface NewAddress {
  readonly channel: string;
  readonly text: string;
  /** The country of a phone number without a country code. */
  readonly country: string | undefined;
}

/**
 * The own address of a new inbox.
 * @throws Failure `invalid_phone_number`, `address_not_supported`, `unavailable`.
 */
export async function readOwnAddress(
  db: Queries,
  world: Channels,
  { organization, channel, text, country }: NewAddress & { readonly organization: string },
): Promise<string> {
  const field = "phone_number";
  const { addresses } = capabilitiesOf(world, { channel });
  if (addresses.some(({ kind }) => kind === phoneKind)) {
    return normalizePhone(db, organization, { text, field, country });
  }
  if (!addresses.some(({ pattern }) => pattern.test(text))) {
    throw failField(field, "address_not_supported", { value: text });
  }
  return text;
}
