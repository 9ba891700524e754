/** Decides to whom a conversation goes, and says why; what follows from it is done by conversations. */
import type { z } from "zod";
import type { Candidate as Listed, RoutingStrategy, routingOutcomes } from "../../../tools/routing.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { type Candidate, type Candidates, findCandidates } from "./candidates.ts";
import { explainChoice, explainMismatch, explainQueue } from "./explain.ts";
import type { Policy, Thread } from "./policy.ts";
import { type Choice, hasSkills, type PassedOver, type Situation, strategies } from "./strategies.ts";

/** A decision as it is recorded and shown. */
export interface Decision {
  readonly outcome: (typeof routingOutcomes)[number];
  readonly explanation: string;
  readonly policy_id: string | null;
  readonly policy_name: string | null;
  readonly strategy: RoutingStrategy | null;
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly candidates: z.input<typeof Listed>[];
}

/** A decision with what it changes for the next one. */
export interface Decided extends Decision {
  /** When time alone may change it: a further tier, or fewer skills. */
  readonly againAt: Date | null;
  /** The place in the round of who was chosen. */
  readonly turn: number;
  readonly credits: ReadonlyMap<string, number>;
}

interface Terms {
  readonly thread: Thread;
  readonly now: Date;
  /** Holds the candidates until the commit, so that the choice is still right when it is made. */
  readonly locks: boolean;
  /** Others have waited longer by the same policy: whoever is free is theirs first. */
  readonly isBehind?: boolean;
}

/** Whom this policy gives the conversation to, if anybody is free. */
export async function decide(db: Queries, policy: Policy, terms: Terms) {
  const { thread, now, locks, isBehind = false } = terms;
  const since = Date.parse(thread.queued_at ?? now.toISOString());
  const waitedMs = now.getTime() - since;
  const candidates = await findCandidates(db, policy, { thread, waitedMs, locks });
  const situation = await readSituation(db, policy, { thread, waitedMs, now });
  const free = candidates.tiers.map((tier) => tier.filter(({ obstacle }) => obstacle === null));
  const choice = isBehind ? undefined : strategies[policy.strategy](free, situation);
  const waits = [candidates.nextTierAfterMs, relaxesAfter(policy, waitedMs)].filter((ms) => ms !== null);
  return {
    ...(choice ? assigned(policy, choice, candidates) : queued(policy, candidates, { situation, isBehind })),
    policy_id: policy.id,
    policy_name: policy.id && policy.name,
    strategy: policy.strategy,
    candidates: list(candidates, situation, choice),
    againAt: waits.length > 0 ? new Date(since + Math.min(...waits)) : null,
    turn: Math.max(...candidates.tiers.flat().map(({ turn }) => turn), 0) + 1,
    credits: choice?.credits ?? new Map(),
  } satisfies Decided;
}

/** What there is to say when no policy is for the conversation. */
export function decideNothing(policies: readonly Policy[]): Decision {
  const outcome = "unmatched";
  const nobody = { policy_id: null, policy_name: null, strategy: null, team_id: null, assigned_to: null };
  return { ...nobody, outcome, explanation: explainMismatch(policies), candidates: [] };
}

/** Writes down what the next decision has to know of this one. */
export async function settleDecision(tx: Transaction, thread: Thread, decided: Decided): Promise<void> {
  const { organization_id } = thread;
  const { team_id, assigned_to, policy_id, turn, credits } = decided;
  if (assigned_to === null) {
    return;
  }
  await tx
    .updateTable("team_members")
    .set({ turn })
    .where("organization_id", "=", organization_id)
    .where("team_id", "=", team_id)
    .where("user_id", "=", assigned_to)
    .execute();
  if (policy_id !== null && credits.size > 0 && (await isKept(tx, organization_id, policy_id))) {
    await tx
      .insertInto("routing_credits")
      .values([...credits].map(([user_id, credit]) => ({ organization_id, policy_id, user_id, credit })))
      .onConflict((conflict) =>
        conflict
          .columns(["organization_id", "policy_id", "user_id"])
          .doUpdateSet((row) => ({ credit: row.ref("excluded.credit") })),
      )
      .execute();
  }
}

/** Whether the policy has not been deleted since it was read; it stays until the commit. */
async function isKept(tx: Transaction, organization: string, id: string): Promise<boolean> {
  const policy = await tx
    .selectFrom("routing_policies")
    .select("id")
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  return policy !== undefined;
}

function assigned(policy: Policy, choice: Choice, { team }: Candidates) {
  const { user_id, team_id } = choice.agent;
  const explanation = explainChoice(policy, choice, team);
  return { outcome: "assigned" as const, explanation, team_id, assigned_to: user_id };
}

function queued(
  policy: Policy,
  candidates: Candidates,
  { situation, isBehind }: { situation: Situation; isBehind: boolean },
) {
  const reasons = candidates.tiers.flat().map((one) => one.obstacle ?? missesOf(one, situation, "not_next"));
  const explanation = explainQueue(policy, isBehind ? "others wait longer" : reasons, candidates.team);
  return { outcome: "queued" as const, explanation, team_id: candidates.team?.id ?? null, assigned_to: null };
}

/** Every candidate as it is shown: the chosen one without a reason. */
function list(
  { tiers }: Candidates,
  situation: Situation,
  choice: Choice | undefined,
): Decision["candidates"] {
  return tiers.flat().map((candidate) => {
    const { obstacle, skills: _skills, turn: _turn, ...shown } = candidate;
    const isChosen = choice?.agent === candidate;
    const reason = obstacle ?? missesOf(candidate, situation, choice?.others ?? "not_next");
    return { ...shown, passed_over: isChosen ? null : reason };
  });
}

function missesOf(candidate: Candidate, { required_skills }: Situation, otherwise: PassedOver): PassedOver {
  return hasSkills(candidate, required_skills) ? otherwise : "lacks_skills";
}

/** Until when it must wait for the skills to be relaxed; null when that is past or never comes. */
function relaxesAfter(policy: Policy, waitedMs: number): number | null {
  const { relax_after_seconds: relax } = policy.settings;
  const isLater = asksSkills(policy) && relax !== undefined && waitedMs < relax * 1000;
  return isLater ? relax * 1000 : null;
}

function asksSkills({ strategy, settings }: Policy): boolean {
  return strategy === "skills_based" || (strategy === "sticky" && settings.fallback === "skills_based");
}

/** Skills are asked for by tags as `skill:fr`, and by the policy. */
function requiredSkills(policy: Policy, { tags }: Thread): string[] {
  const tagged = tags.filter((tag) => tag.startsWith("skill:")).map((tag) => tag.slice("skill:".length));
  return asksSkills(policy) ? [...new Set([...policy.settings.required_skills, ...tagged])] : [];
}

async function readSituation(
  db: Queries,
  policy: Policy,
  { thread, waitedMs, now }: { thread: Thread; waitedMs: number; now: Date },
): Promise<Situation> {
  const { strategy, settings } = policy;
  const isWeighted = strategy === "weighted" || (strategy === "sticky" && settings.fallback === "weighted");
  return {
    settings,
    required_skills: requiredSkills(policy, thread),
    waitedMs,
    credits: isWeighted ? await readCredits(db, policy) : new Map(),
    lastAgent:
      strategy === "sticky" ? await readLastAgent(db, thread, dayBefore(now, settings.ttl_days)) : null,
  };
}

async function readCredits(db: Queries, { organization_id, id }: Policy): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("routing_credits")
    .select(["user_id", "credit"])
    .where("organization_id", "=", organization_id)
    .where("policy_id", "=", id)
    .execute();
  return new Map(rows.map(({ user_id, credit }) => [user_id, credit]));
}

/** Who was given this contact last, in any of its conversations, since that time. */
async function readLastAgent(db: Queries, thread: Thread, since: Date): Promise<string | null> {
  const last = await db
    .selectFrom("assignments")
    .select("assigned_to")
    .where("organization_id", "=", thread.organization_id)
    .where("contact_id", "=", thread.contact_id)
    .where("assigned_to", "is not", null)
    .where("created_at", ">=", since.toISOString())
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.assigned_to ?? null;
}

function dayBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * 24 * 3_600_000);
}
