/** The account at a channel's provider that an inbox uses. */

/** The ids of an account, by which its reports are assigned to its inbox. */
export interface AccountIds {
  readonly account_id: string;
  /** Accounts of one business share templates and limits. */
  readonly business_id: string;
  /** The provider reports for all accounts of an app to one address. */
  readonly app_id: string;
}

export interface ChannelAccount extends AccountIds {
  /** In the form of the channel's own schema. Secret. */
  readonly credentials: Readonly<Record<string, unknown>>;
}

export type AccountReading =
  | { readonly outcome: "read"; readonly account: ChannelAccount }
  /** `field` is the member that is wrong. */
  | { readonly outcome: "invalid"; readonly field: string; readonly reason: string };
