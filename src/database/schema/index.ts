/** The types of the tables for Kysely. Times are written as ISO 8601 strings and read as ISO 8601 strings in UTC. */
import type { AccountTables } from "./account.ts";
import type { BillingTables } from "./billing.ts";
import type { BroadcastTables } from "./broadcasts.ts";
import type { CohortTables } from "./cohorts.ts";
import type { FlowTables } from "./flows.ts";
import type { InboxTables } from "./inbox.ts";
import type { JobTables } from "./jobs.ts";
import type { PaymentTables } from "./payments.ts";
import type { PriceTables } from "./prices.ts";
import type { SimulatorTables } from "./simulator.ts";
import type { TemplateTables } from "./templates.ts";
import type { WalletTables } from "./wallet.ts";
import type { WebhookTables } from "./webhooks.ts";

export type { Sealed } from "./columns.ts";
export type { EndActionConfig, FlowNode, FlowStepDetail, FlowWait } from "./flows.ts";
export type { ChannelPricing, MessageCharge } from "./wallet.ts";

export interface Tables
  extends AccountTables,
    BillingTables,
    BroadcastTables,
    CohortTables,
    FlowTables,
    InboxTables,
    JobTables,
    PaymentTables,
    PriceTables,
    SimulatorTables,
    TemplateTables,
    WalletTables,
    WebhookTables {}
