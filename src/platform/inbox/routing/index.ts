/** Routing: policies, simulated decisions and recorded decisions; the conversations module applies decisions. */
import { fail, failField } from "../../../tools/errors.ts";
import { routing as contract } from "../../../tools/routing.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { readPage } from "../../database/query/index.ts";
import { defineRetentionJob, implement, requireBelowQuota } from "../kernel/index.ts";
import { matchPolicies, parseConditions, readFacts } from "./conditions.ts";
import { decide, decideUnmatched } from "./decide.ts";
import { activePolicies, selectPolicies } from "./policies.ts";
import { type ConversationRow, toPolicy } from "./policy.ts";
import { candidatesOf, eraseDecisions, selectDecisions } from "./records.ts";
import { requireSettings } from "./settings.ts";

export { findUser, lockMember } from "./candidates.ts";
export { factsOf, matchPolicies, readFacts } from "./conditions.ts";
export { decide, decideFromSnapshot, decideUnmatched, type PolicyDecision } from "./decide.ts";
export { reasonTexts } from "./explain.ts";
export {
  activePolicies,
  hasPolicies,
  policyForOwnTeam,
  policyForQueued,
  policyForTeam,
} from "./policies.ts";
export type { ConversationRow, Policy } from "./policy.ts";
export { type DecisionRecord, recordDecision, recordPolicyDecisions, type Trigger } from "./records.ts";
export { type RoutingRequest, type RoutingSnapshot, readRoutingSnapshot, reserveAgent } from "./snapshot.ts";

const deleteOldDecisionsJob = defineRetentionJob({
  name: "decision.forget",
  schedule: "22 * * * *",
  rules: [{ table: "routing_decisions", column: "created_at", days: "decisions" }],
});

export { whyUnassigned } from "./waiting.ts";

export const routing = implement(contract, {
  tables: ["routing_policies", "routing_credits", "routing_decisions"],
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
      const updated = await tx
        .updateTable("routing_policies")
        .set({
          ...changes,
          target_id,
          conditions: JSON.stringify(conditions),
          settings: JSON.stringify(settings),
          updated_at: now.toISOString(),
        })
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await context.world.hooks.capacityFreed(context, organization);
      return { data: updated };
    },

    async delete_routing_policy({ id }, { tx, organization }) {
      await getPolicy(tx, organization, id, { locks: true });
      await tx
        .deleteFrom("routing_policies")
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .execute();
      return { data: { deleted: true as const } };
    },

    async simulate_routing({ conversation_id, policy_id }, { db, organization, now }) {
      const conversation = await getConversation(db, organization, conversation_id);
      const policies =
        policy_id === undefined
          ? await activePolicies(db, organization)
          : [toPolicy(await getPolicy(db, organization, policy_id))];
      const facts = await readFacts(db, [conversation], policies);
      const [policy] = matchPolicies(facts, { conversation, policies, now });
      const decision = policy
        ? await decide(db, { conversation, policy }, { now, locks: false })
        : decideUnmatched(policies);
      return { data: { conversation_id, ...decision } };
    },

    async list_routing_decisions({ id, ...paging }, { db, organization }) {
      await getConversation(db, organization, id);
      const { rows, meta } = await readPage(selectDecisions(db, organization, id), paging);
      return { data: rows.map((row) => ({ ...row, candidates: candidatesOf(row) })), meta };
    },
  },
  jobs: [deleteOldDecisionsJob],
  erase: { later: eraseDecisions },
});

interface PolicyInput {
  readonly conditions: Record<string, unknown>;
  readonly settings: Record<string, unknown>;
  readonly target_type: "team" | "user";
  readonly target_id: string | null;
}

/** @throws Failure for an invalid condition or setting, an unknown target, and a user target without an id. */
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
    const team = await tx
      .selectFrom("teams")
      .select("id")
      .where("organization_id", "=", organization)
      .where("id", "=", id)
      .forKeyShare()
      .executeTakeFirst();
    if (!team) {
      throw fail("team_not_found", { param: "target_id" });
    }
  },

  async user(tx, organization, id) {
    const user = await tx
      .selectFrom("users")
      .select("id")
      .where("organization_id", "=", organization)
      .where("id", "=", id)
      .executeTakeFirst();
    if (!user) {
      throw fail("user_not_found", { param: "target_id" });
    }
  },
};

async function getPolicy(db: Queries, organization: string, id: string, { locks = false } = {}) {
  const policy = await selectPolicies(db, organization)
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!policy) {
    throw fail("routing_policy_not_found");
  }
  return policy;
}

/** A conversation whose contact has not been erased. */
async function getConversation(db: Queries, organization: string, id: string): Promise<ConversationRow> {
  const conversation = await db
    .selectFrom("conversations")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .executeTakeFirst();
  if (!conversation) {
    throw fail("conversation_not_found");
  }
  return conversation;
}
