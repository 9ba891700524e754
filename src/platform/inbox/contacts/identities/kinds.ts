/**
 * The kinds of identities by which a person is recognized. Which kinds there are is the channels' business,
 * except for two: phone numbers, and usernames, which can pass to another person.
 */
import type { ChannelAddress, Identities } from "../../../../ports/channel/address.ts";
import { phoneKey, phoneKind } from "../../../account/phone/index.ts";

export interface Identity {
  readonly kind: string;
  readonly value: string;
}

export const usernameKind = "username";

/** Whether it is an id that a channel gives to persons. Such an id never passes to another person. */
export function isChannelId(kind: string): boolean {
  return kind !== phoneKind && kind !== usernameKind;
}

/**
 * The identities as they are stored. The most reliable first, and always in this order, so that concurrent
 * transactions don't deadlock. A channel's id is on every message of a person and never reassigned; a
 * username can be given up and taken by another person.
 */
export function identitiesOf({ phone, username, ...ids }: Identities): Identity[] {
  const candidates: readonly (readonly [string, string | null | undefined])[] = [
    ...Object.entries(ids).sort(([one], [other]) => (one < other ? -1 : 1)),
    [phoneKind, phone && phoneKey(phone)],
    [usernameKind, username?.toLowerCase()],
  ];
  return candidates.flatMap(([kind, value]) => (value ? [{ kind, value }] : []));
}

export function storedIdentity({ kind, value }: ChannelAddress): Identity {
  return { kind, value: kind === phoneKind ? phoneKey(value) : value };
}

/** The columns of `contacts` that show identities, of a contact without any. */
export const noIdentities: ShownIdentities = { phone_number: null, bsuid: null, username: null };

interface ShownIdentities {
  readonly phone_number: string | null;
  readonly bsuid: string | null;
  readonly username: string | null;
}

/** The columns of `contacts` that show the identities of these kinds. */
export function shownIdentities(
  { phone, bsuid, username }: Identities,
  kinds: ReadonlySet<string>,
): Partial<ShownIdentities> {
  return {
    ...(kinds.has(phoneKind) && phone ? { phone_number: phone } : {}),
    ...(kinds.has("bsuid") && bsuid ? { bsuid } : {}),
    ...(kinds.has(usernameKind) && username ? { username } : {}),
  };
}
