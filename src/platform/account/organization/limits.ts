/** Limits on what an organization may have: its own limits, or else the limits in the operator's settings. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import type { LimitName } from "../../../../tools/operator.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Quotas } from "../../../ports/limits.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { lockOrganization } from "./lock.ts";

/**
 * The thing that a limit counts, for the message; the setting that has the limit; and the limit's value in
 * the settings.
 */
interface Rule {
  /** In the plural. */
  readonly thing: string;
  readonly setting: string;
  default(quotas: Quotas): number;
}

const rules: Readonly<Record<LimitName, Rule>> = {
  stored_mb: {
    thing: "megabytes of files",
    setting: "TIDINGS_QUOTA_STORED_MB",
    default: ({ storedBytes }) => storedBytes / 1_000_000,
  },
  api_keys: { thing: "API keys", setting: "TIDINGS_QUOTA_API_KEYS", default: ({ apiKeys }) => apiKeys },
  webhooks: { thing: "webhooks", setting: "TIDINGS_QUOTA_WEBHOOKS", default: ({ webhooks }) => webhooks },
  imports: { thing: "imports at once", setting: "TIDINGS_QUOTA_IMPORTS", default: ({ imports }) => imports },
  inboxes: { thing: "inboxes", setting: "TIDINGS_QUOTA_INBOXES", default: ({ inboxes }) => inboxes },
  quick_replies: {
    thing: "quick replies",
    setting: "TIDINGS_QUOTA_QUICK_REPLIES",
    default: ({ quickReplies }) => quickReplies,
  },
  templates: {
    thing: "templates",
    setting: "TIDINGS_QUOTA_TEMPLATES",
    default: ({ templates }) => templates,
  },
  cohorts: { thing: "cohorts", setting: "TIDINGS_QUOTA_COHORTS", default: ({ cohorts }) => cohorts },
  flows: { thing: "flows", setting: "TIDINGS_QUOTA_FLOWS", default: ({ flows }) => flows },
  knowledge_documents: {
    thing: "documents",
    setting: "TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS",
    default: ({ knowledgeDocuments }) => knowledgeDocuments,
  },
  knowledge_chunks: {
    thing: "passages of documents",
    setting: "TIDINGS_QUOTA_KNOWLEDGE_CHUNKS",
    default: ({ knowledgeChunks }) => knowledgeChunks,
  },
  knowledge_qa_pairs: {
    thing: "QA pairs",
    setting: "TIDINGS_QUOTA_KNOWLEDGE_QA_PAIRS",
    default: ({ knowledgeQaPairs }) => knowledgeQaPairs,
  },
  knowledge_reading_seconds: {
    thing: "seconds of reading documents in an hour",
    setting: "TIDINGS_QUOTA_KNOWLEDGE_READING_SECONDS",
    default: ({ knowledgeReadingSeconds }) => knowledgeReadingSeconds,
  },
  routing_policies: {
    thing: "routing policies",
    setting: "TIDINGS_QUOTA_ROUTING_POLICIES",
    default: ({ routingPolicies }) => routingPolicies,
  },
  team_members: {
    thing: "team members",
    setting: "TIDINGS_QUOTA_TEAM_MEMBERS",
    default: ({ teamMembers }) => teamMembers,
  },
};

/** The limits on a number of rows. Each has the name of the table. */
type CountedLimit = Exclude<LimitName, "stored_mb" | "knowledge_reading_seconds">;

/** The values that replace the settings for one organization. */
type Overrides = Readonly<Record<string, number>>;

/** The organization's own limit, or else the limit in the settings. */
export function limitOf({ quotas }: Settings, overrides: Overrides, name: LimitName): number {
  return overrides[name] ?? rules[name].default(quotas);
}

interface Settings {
  readonly quotas: Quotas;
}

interface LimitedContext {
  readonly tx: Transaction;
  readonly world: Settings;
  readonly organization: string;
}

/**
 * Counts rows of an organization and returns the count with the limit. The organization stays locked until
 * the commit, so that two concurrent calls can't both pass the limit.
 */
export async function countLocked<Name extends CountedLimit>(
  { tx, world, organization }: LimitedContext,
  name: Name,
  rows: SelectQueryBuilder<Tables, Name, object>,
) {
  const { limits } = await lockOrganization(tx, organization);
  const { count } = await rows
    .where(sql<boolean>`organization_id = ${organization}`)
    .select(sql<number>`count(*)`.as("count"))
    .executeTakeFirstOrThrow();
  return { count, limits, limit: limitOf(world, limits, name) };
}

/**
 * Locks the organization until the commit.
 * @throws Failure `quota_exceeded` if the number of rows has reached the limit.
 */
export async function requireBelowQuota<Name extends CountedLimit>(
  context: LimitedContext,
  name: Name,
  rows: SelectQueryBuilder<Tables, Name, object>,
): Promise<void> {
  const { count, limits, limit } = await countLocked(context, name, rows);
  if (count >= limit) {
    throw failQuota(context.world, limits, name);
  }
}

export function failQuota(world: Settings, overrides: Overrides, name: LimitName): Failure {
  const { thing, setting } = rules[name];
  const isOverridden = overrides[name] !== undefined;
  return fail("quota_exceeded", {
    limit: Math.round(limitOf(world, overrides, name)),
    thing,
    setting: isOverridden ? `the organization's limit ${name}` : setting,
  });
}
