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

/**
 * The account can't be used; `reason` may be shown to the caller, and `field` is the credential that is
 * wrong.
 */
export interface RefusedAccount {
  readonly outcome: "refused";
  readonly field: string;
  readonly reason: string;
}

export type ConnectResult =
  | { readonly outcome: "connected" }
  | RefusedAccount
  /** The provider does not respond or is busy: nothing is known of the account. */
  | { readonly outcome: "unavailable" };

export interface SetUpRequest {
  readonly account: ChannelAccount;
  /** The inbox's own address. */
  readonly address: string;
  /** Where the provider is to report; null if the service has no public address. */
  readonly callback_url: string | null;
  /** The addresses of the organization's other inboxes of this channel. */
  readonly other_callback_urls: readonly string[];
  /** Whether reports may be taken away from an address that is not of this organization. */
  readonly replacesCallback: boolean;
  /** Of the address's registration. Secret. */
  readonly pin: string | undefined;
}

/** A step of the set-up at the provider. */
export interface SetUpStep {
  readonly name: string;
  /** changed: it was not there, and is now. skipped: a step that it needs has failed. */
  readonly state: "ok" | "changed" | "failed" | "skipped";
  /** What was found or done. It may be shown to the caller. */
  readonly detail: string;
  /** What to do; null if there is nothing to do. */
  readonly fix: string | null;
}

export interface SetUpResult {
  readonly steps: readonly SetUpStep[];
}

/** What the provider says of a number; null: it does not say. */
export interface NumberLimits {
  /** How many people it may write to outside their windows in 24 hours; null also for any number. */
  readonly messaging_limit: number | null;
  readonly quality: "green" | "yellow" | "red" | null;
  readonly messages_per_second: number | null;
}

/** What a person has to know of an account. */
export interface AccountAlert {
  /** One account, or each one of a business. */
  readonly account: Partial<Pick<AccountIds, "account_id" | "business_id">>;
  /** Where the provider reports it, and under which name. */
  readonly field: string;
  readonly type: string | null;
  readonly title: string;
  readonly advice: string;
}
