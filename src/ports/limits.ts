/** Limits that the operator sets: what an organization may have and spend, and for how long rows are kept. */
import type { WalletMode } from "../../tools/wallet.ts";

export interface OperatorLimits {
  readonly quotas: Quotas;
  readonly retention: RetentionDays;
  readonly wallet: WalletSettings;
  /**
   * Tokens of the language model, of input and output, that an organization may use in a calendar month;
   * undefined: no limit.
   */
  readonly monthlyTokens: number | undefined;
}

/** What each organization may have. */
export interface Quotas {
  readonly storedBytes: number;
  readonly apiKeys: number;
  readonly webhooks: number;
  /** That wait or run. */
  readonly imports: number;
  readonly inboxes: number;
  readonly quickReplies: number;
  readonly templates: number;
  readonly cohorts: number;
  readonly flows: number;
  readonly knowledgeDocuments: number;
  /** Of all its documents. */
  readonly knowledgeChunks: number;
  readonly knowledgeQaPairs: number;
  /** In an hour, for all its documents. */
  readonly knowledgeReadingSeconds: number;
  readonly routingPolicies: number;
  /** A user counts once for each team. */
  readonly teamMembers: number;
  /** In each process. */
  readonly waitingCalls: number;
}

/** For how many days the rows are kept that have their own setting. */
export interface RetentionDays {
  readonly receipts: number;
  readonly decisions: number;
  readonly assignments: number;
  /** Also of their deliveries to webhooks. */
  readonly events: number;
  readonly imports: number;
  readonly deadJobs: number;
  /** The record of acts. */
  readonly activity: number;
}

/** What the wallets of all organizations may pay. */
export interface WalletSettings {
  readonly mode: WalletMode;
  /** How far below zero one may fall in the mode credit_limit, in millionths of its currency's unit. */
  readonly creditLimit: number;
}
