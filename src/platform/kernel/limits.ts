/** Limits that the operator sets: what an organization may have, and for how long rows are kept. */
import { type SelectQueryBuilder, sql } from "kysely";
import { fail } from "../../../tools/errors.ts";
import type { Transaction } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import { lockOrganization } from "./lock-organization.ts";

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
}

interface Quota {
  /** In the plural, for the message. */
  readonly thing: string;
  readonly setting: string;
  readonly limit: number;
}

type Countable =
  | "api_keys"
  | "imports"
  | "inboxes"
  | "quick_replies"
  | "routing_policies"
  | "team_members"
  | "templates"
  | "webhooks";

/** Counts rows of an organization that is locked until the commit, so that two calls at once can't both pass a limit. */
export async function countLocked<Table extends Countable>(
  tx: Transaction,
  organization: string,
  rows: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  await lockOrganization(tx, organization);
  const { count } = await rows
    .where(sql<boolean>`organization_id = ${organization}`)
    .select(sql<number>`count(*)`.as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** @throws Failure `quota_exceeded` if the organization has the limit already. */
export function requireBelowQuota(count: number, { thing, setting, limit }: Quota): void {
  if (count >= limit) {
    throw fail("quota_exceeded", { limit, thing, setting });
  }
}
