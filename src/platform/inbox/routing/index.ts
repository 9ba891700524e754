/**
 * Routing: policies, simulated decisions and recorded decisions; the conversations module applies decisions.
 */

import { fail, failField } from "../../../../tools/errors.ts";
import { routing as contract } from "../../../../tools/routing.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { capacityFreed } from "../../account/users.ts";
import {
  type Change,
  defineRetentionJob,
  implement,
  type Transaction,
} from "../../foundation/kernel/index.ts";
import { erasesContact } from "../contacts/index.ts";
import { teamDeleted } from "../teams/index.ts";
import { deleteOldAssignmentsJob, eraseAssignments } from "./assignments.ts";
import { parseConditions } from "./conditions.ts";
import { getPolicy, selectPolicies } from "./policies.ts";
import type { RoutedConversation } from "./policy.ts";
import { candidatesOf, eraseDecisions, selectDecisions } from "./records.ts";
import { requireSettings } from "./settings.ts";

export { latestAssignment, listAssignments, recordAssignment, recordAssignments } from "./assignments.ts";
export { findUser, lockMember } from "./candidates.ts";
export { factsOf, type LatestMessage, latestMessages, matchPolicies, readFacts } from "./conditions.ts";
export { decide, decideFromSnapshot, decideUnmatched, type PolicyDecision } from "./decide.ts";
export { reasonTexts } from "./explain.ts";
export {
  activePolicies,
  hasPolicies,
  policyForOwnTeam,
  policyForQueued,
  policyForTeam,
} from "./policies.ts";
export type { Policy, RoutedConversation } from "./policy.ts";
export { type DecisionRecord, recordDecision, recordPolicyDecisions, type Trigger } from "./records.ts";
export { simulateNewConversation, simulateRouting } from "./simulate.ts";
export { type RoutingRequest, type RoutingSnapshot, readRoutingSnapshot, reserveAgent } from "./snapshot.ts";

const deleteOldDecisionsJob = defineRetentionJob({
  name: "decision.forget",
  schedule: "22 * * * *",
  rules: [{ table: "routing_decisions", column: "created_at", days: "decisions" }],
});

export { whyUnassigned } from "./waiting.ts";

// These need a conversation: the module conversations implements them, by the functions below.
const { simulate_routing: _, list_routing_decisions: __, ...own } = contract;

export const routing = implement(own, {
  tables: ["routing_policies", "routing_credits", "routing_decisions", "assignments"],
  operations: {
    async create_routing_policy({ target_id = null, ...input }, context) {
      const { tx, organization, now } = context;
      await requireBelowQuota(context, "routing_policies", tx.selectFrom("routing_policies"));
      await requirePolicy(tx, organization, { ...input, target_id });
      const policy = await tx
        .insertInto("routing_policies")
        .values({
          ...input,
          organization_id: organization,
          id: newId("pol", now),
          target_id,
          conditions: JSON.stringify(input.conditions),
          settings: JSON.stringify(input.settings),
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: policy };
    },

    async list_routing_policies(paging, { db, organization }) {
      const { rows, meta } = await readPage(selectPolicies(db, organization), paging);
      return { data: rows, meta };
    },

    async get_routing_policy({ id }, { db, organization }) {
      return { data: await getPolicy(db, organization, id) };
    },

    async update_routing_policy({ id, ...input }, context) {
      const { tx, organization, now } = context;
      const before = await getPolicy(tx, organization, id, { locks: true });
      const changes = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
      // A new type of target needs a new id: the current one names a target of the old type.
      const isNewType = input.target_type !== undefined && input.target_type !== before.target_type;
      const policy = { ...before, ...(isNewType ? { target_id: null } : {}), ...changes };
      await requirePolicy(tx, organization, policy);
      const { conditions, settings, target_id } = policy;
      const updated = await ofOrganization(tx, organization)
        .updateTable("routing_policies")
        .set({
          ...changes,
          target_id,
          conditions: JSON.stringify(conditions),
          settings: JSON.stringify(settings),
          updated_at: now.toISOString(),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await capacityFreed.run(context.world, context, organization);
      return { data: updated };
    },

    async delete_routing_policy({ id }, { tx, organization }) {
      await getPolicy(tx, organization, id, { locks: true });
      await ofOrganization(tx, organization).deleteFrom("routing_policies").where("id", "=", id).execute();
      return { data: { deleted: true as const } };
    },
  },
  jobs: [deleteOldDecisionsJob, deleteOldAssignmentsJob],
  erase: erasesContact({ later: [eraseDecisions, eraseAssignments] }),
  hooks: [teamDeleted.handledBy(requireNoPolicy)],
});

interface PolicyInput {
  readonly conditions: Record<string, unknown>;
  readonly settings: Record<string, unknown>;
  readonly target_type: "team" | "user";
  readonly target_id: string | null;
}

/**
 * @throws Failure for an invalid condition or setting, an unknown target, and a user target without an id.
 */
async function requirePolicy(
  tx: Transaction,
  organization: string,
  { conditions, settings, target_type, target_id }: PolicyInput,
): Promise<void> {
  parseConditions(conditions);
  requireSettings(settings);
  if (target_id !== null) {
    await requireTarget[target_type](tx, organization, target_id);
    return;
  }
  if (target_type === "user") {
    throw failField("target_id", "invalid_request", { reason: "a policy for a user needs the user's id." });
  }
}

// The team is locked until the commit, so that it can't be deleted while a policy that targets it is written.
const requireTarget: Record<
  PolicyInput["target_type"],
  (tx: Transaction, organization: string, id: string) => Promise<void>
> = {
  async team(tx, organization, id) {
    const team = await ofOrganization(tx, organization)
      .selectFrom("teams")
      .select("id")
      .where("id", "=", id)
      .forKeyShare()
      .executeTakeFirst();
    if (!team) {
      throw fail("team_not_found", { param: "target_id" });
    }
  },

  async user(tx, organization, id) {
    const user = await ofOrganization(tx, organization)
      .selectFrom("users")
      .select("id")
      .where("id", "=", id)
      .executeTakeFirst();
    if (!user) {
      throw fail("user_not_found", { param: "target_id" });
    }
  },
};

/** @throws Failure `team_in_use`, naming the active policies that target the team. */
async function requireNoPolicy(
  { tx }: Change,
  { organization, team_id }: { readonly organization: string; readonly team_id: string },
): Promise<void> {
  const policies = await ofOrganization(tx, organization)
    .selectFrom("routing_policies")
    .select("name")
    .where("target_type", "=", "team")
    .where("target_id", "=", team_id)
    .where("is_active", "=", true)
    .orderBy("id")
    .execute();
  if (policies.length > 0) {
    throw fail("team_in_use", { policies: policies.map(({ name }) => name).join(", ") });
  }
}

/** The recorded decisions about a conversation, the newest first. */
export async function listDecisions(
  db: Queries,
  { organization_id, id }: Pick<RoutedConversation, "organization_id" | "id">,
  paging: { readonly page: number; readonly per_page: number },
) {
  const { rows, meta } = await readPage(selectDecisions(db, organization_id, id), paging);
  return { data: rows.map((row) => ({ ...row, candidates: candidatesOf(row) })), meta };
}
