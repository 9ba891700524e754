/** The inbox with which an organization begins. */

/** The inbox that each new organization has, so that it can send and receive at once. */
export interface FirstInbox {
  readonly name: string;
  readonly channel: string;
  readonly platform: string;
  /** The inbox's own address. */
  readonly phone_number: string;
}
