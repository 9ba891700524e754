/** Routing: the policies, what they would decide, and what they decided. Conversations carry it out. */
import { fail, failField } from "../../../tools/errors.ts";
import { routing as contract } from "../../../tools/routing.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { readPage } from "../../database/query/index.ts";
import { announceCapacity, implement } from "../kernel/index.ts";
import { matchPolicies, parseConditions } from "./conditions.ts";
import { decide, decideNothing } from "./decide.ts";
import { activePolicies, inOrder } from "./policies.ts";
import { type Thread, toPolicy } from "./policy.ts";
import { listDecisions } from "./records.ts";
import { requireSettings } from "./settings.ts";

export { type Board, openBoard, seat, type Wish } from "./board.ts";
export { findUser, lockSeat } from "./candidates.ts";
export { matchPolicies } from "./conditions.ts";
export { type Decided, decide, decideNothing, decideOn } from "./decide.ts";
export { activePolicies, hasPolicies, policyOfQueue, policyOfTeam } from "./policies.ts";
export type { Policy } from "./policy.ts";
export { type Made, recordDecided, recordDecision, type Trigger } from "./records.ts";

export const routing = implement(contract, {
  operations: {
    async create_routing_policy({ target_id = null, ...input }, { tx, organization, now }) {
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
      const { rows, meta } = await readPage(inOrder(db, organization), paging);
      return { data: rows, meta };
    },

    async get_routing_policy({ id }, { db, organization }) {
      return { data: await getPolicy(db, organization, id) };
    },

    async update_routing_policy({ id, ...given }, context) {
      const { tx, organization, now } = context;
      const before = await getPolicy(tx, organization, id, { locks: true });
      const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      // Another kind of target needs another id: the one there is names something else.
      const isOther = given.target_type !== undefined && given.target_type !== before.target_type;
      const policy = { ...before, ...(isOther ? { target_id: null } : {}), ...changes };
      await requirePolicy(tx, organization, policy);
      const { conditions, settings, target_id } = policy;
      const changed = await tx
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
      await announceCapacity(context, organization);
      return { data: changed };
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
      const thread = await getThread(db, organization, conversation_id);
      const policies =
        policy_id === undefined
          ? await activePolicies(db, organization)
          : [toPolicy(await getPolicy(db, organization, policy_id))];
      const [policy] = await matchPolicies(db, { thread, policies, now });
      const decision = policy
        ? await decide(db, { thread, policy }, { now, locks: false })
        : decideNothing(policies);
      return { data: { conversation_id, ...decision } };
    },

    async list_routing_decisions({ id }, { db, organization }) {
      await getThread(db, organization, id);
      const data = await listDecisions(db, organization, id);
      return { data, meta: { total: data.length } };
    },
  },
});

interface Wanted {
  readonly conditions: Record<string, unknown>;
  readonly settings: Record<string, unknown>;
  readonly target_type: "team" | "user";
  readonly target_id: string | null;
}

/** @throws Failure for a wrong condition or setting, a target that there is not, and a user target without an id. */
async function requirePolicy(tx: Transaction, organization: string, wanted: Wanted): Promise<void> {
  const { conditions, settings, target_type, target_id } = wanted;
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

// Held until the commit: who is deleting the target sees this policy, or this policy no target.
const requireTarget: Record<
  Wanted["target_type"],
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
  const policy = await inOrder(db, organization)
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!policy) {
    throw fail("routing_policy_not_found");
  }
  return policy;
}

/** A conversation whose contact has not been erased. */
async function getThread(db: Queries, organization: string, id: string): Promise<Thread> {
  const thread = await db
    .selectFrom("conversations")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .executeTakeFirst();
  if (!thread) {
    throw fail("conversation_not_found");
  }
  return thread;
}
