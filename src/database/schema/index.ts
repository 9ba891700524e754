/**
 * The types of the tables for Kysely. Times are written as ISO 8601 strings and read as ISO 8601 strings in
 * UTC.
 */

export type { InboxAlert, InboxHealth, InboxNumberLimits } from "./account.ts";
export type { SealedText } from "./columns.ts";
export type {
  FlowCallRequest,
  FlowCallResult,
  FlowNode,
  FlowStepDetail,
  FlowWait,
  StoredEndActionConfig,
} from "./flows.ts";
export type { MessageDelay, ReportedFailure, StoredContent, StoredReferral } from "./inbox.ts";
export type { DocumentWarning, StoredGraph, TurnSource } from "./knowledge-base.ts";
export type { ChannelPricing, MessageCharge } from "./money.ts";
export type { StoredPreparation } from "./plans.ts";
export { type SqlType, sqlTypes } from "./sql-types.ts";
export type { Tables } from "./tables.ts";
export type { SentTemplate } from "./templates.ts";
