/** How a channel addresses persons, and how it tells them apart. */

/** Where a person can be written to. */
export interface ChannelAddress {
  /** The `kind` of an `AddressKind` of the channel. */
  readonly kind: string;
  readonly value: string;
}

/** A kind of address that persons of a channel have. */
export interface AddressKind {
  /**
   * Names one namespace of addresses: two channels share a kind only if an address of it is the same person
   * on both. It is stored, so it must not change. `phone` is the kind of phone numbers in E.164 form; any
   * other kind is an id that the channel gives to persons.
   */
  readonly kind: string;
  /** Matches the whole of each address of this kind, and no address of another kind or phone number. */
  readonly pattern: RegExp;
  /** Whether a message may be sent to an address from which nothing has been received yet. */
  readonly isOpen: boolean;
}

/**
 * What a channel knows of a person, by kind: the kinds of its addresses, and others by which it recognizes a
 * person. Null and a missing member are the same. The kind `username` is chosen by the person, who can change
 * it; another person may then take it.
 */
export type Identities = Readonly<Record<string, string | null | undefined>>;

/** A person's identities before and after a change. Kinds that are null or missing stay as they are. */
export interface IdentityMove {
  readonly occurred_at: string;
  readonly from: Identities;
  readonly to: Identities;
}
