/** The types of the tables for Kysely. Times are written as ISO 8601 strings and read as ISO 8601 strings in UTC. */
import type { AccountTables } from "./account.ts";
import type { BillingTables } from "./billing.ts";
import type { BroadcastTables, CohortTables } from "./broadcasts.ts";
import type { FlowTables } from "./flows.ts";
import type { InboxTables } from "./inbox.ts";
import type { JobTables } from "./jobs.ts";
import type { ChatbotTables, KnowledgeTables } from "./knowledge-base.ts";
import type { PaymentTables } from "./payments.ts";
import type { PriceTables } from "./prices.ts";
import type { SimulatorTables } from "./simulator.ts";
import type { TemplateTables } from "./templates.ts";
import type { WalletTables } from "./wallet.ts";
import type { WebhookTables } from "./webhooks.ts";

export type { InboxHealth, NumberLimits } from "./account.ts";
export type { Sealed } from "./columns.ts";
export type {
  EndActionConfig,
  FlowCallRequest,
  FlowCallResult,
  FlowNode,
  FlowStepDetail,
  FlowWait,
} from "./flows.ts";
export type { DocumentWarning, StoredGraph, TurnSource } from "./knowledge-base.ts";
export type { ChannelPricing, MessageCharge } from "./wallet.ts";

export interface Tables
  extends AccountTables,
    BillingTables,
    BroadcastTables,
    ChatbotTables,
    CohortTables,
    FlowTables,
    InboxTables,
    JobTables,
    KnowledgeTables,
    PaymentTables,
    PriceTables,
    SimulatorTables,
    TemplateTables,
    WalletTables,
    WebhookTables {}
