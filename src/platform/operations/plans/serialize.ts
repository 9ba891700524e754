/** Shows plans as the contract does. */
import { fromMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, rowsOf } from "../../../database/query/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { isSecretName } from "../../foundation/sealing/index.ts";
import { readCallError } from "./outward.ts";
import { shownStatus } from "./states.ts";
import { type PlanRow, progressOf, readContentOf } from "./store.ts";
import type { TargetRow } from "./targets.ts";

const sampleCount = 3;

interface ShownContext {
  readonly world: World;
  readonly now: Date;
  readonly db: Queries;
}

export async function serializePlans({ world, now, db }: ShownContext, plans: readonly PlanRow[]) {
  const [first] = plans;
  if (!first) {
    return [];
  }
  const ids = plans.map(({ id }) => id);
  const uncounted = plans.filter(({ included }) => included === null).map(({ id }) => id);
  const [counts, samples] = await Promise.all([
    countTargets(db, first.organization_id, uncounted),
    readSamples(db, first.organization_id, ids),
  ]);
  return plans.map((plan) => {
    const { price, currency, operation } = plan;
    const count = counts.find(({ plan_id }) => plan_id === plan.id);
    const status = shownStatus(plan, now);
    return {
      ...plan,
      status,
      ended_at: plan.ended_at ?? (status === "expired" ? plan.expires_at : null),
      error: readCallError(world, plan)?.error ?? null,
      input: redact(readContentOf(world, plan).input),
      progress: status === "preparing" ? progressOf(plan) : null,
      recipient_count: plan.included ?? count?.included ?? 0,
      excluded_count: plan.excluded ?? count?.excluded ?? 0,
      price: price === null || currency === null ? null : { amount: fromMicros(price), currency },
      is_undoable: !world.plannedCalls.isDestructive(operation),
      samples: samples.filter(({ plan_id }) => plan_id === plan.id).map(serializeTarget),
    };
  });
}

export function serializeTarget({ contact_id, to, name, text, reason, unusual }: TargetRow) {
  return { contact_id, to, name, text, excluded: reason, is_unusual: unusual > 0 };
}

async function countTargets(db: Queries, organization: string, ids: readonly string[]) {
  const { rows } = await rowsOf({ plan_id: "text", included: "bigint", excluded: "bigint" })`
    select plan_id, count(*) filter (where reason is null) as included,
      count(*) filter (where reason is not null) as excluded
    from plan_targets where organization_id = ${organization} and plan_id = any(${ids}::text[])
    group by plan_id
  `.execute(db);
  return rows;
}

function readSamples(db: Queries, organization: string, ids: readonly string[]): Promise<TargetRow[]> {
  return ofOrganization(db, organization)
    .selectFrom("plan_targets")
    .selectAll()
    .where("plan_id", "in", ids)
    .where("position", "<", sampleCount)
    .orderBy("position")
    .execute();
}

/** Hides the values of fields that hold secrets: other credentials may read the plan. */
function redact(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSecretName(name) ? "…" : redactMember(member)]),
  );
}

function redactMember(member: unknown): unknown {
  if (Array.isArray(member)) {
    return member.map(redactMember);
  }
  // Parsed JSON: an object has no other keys than its own.
  return typeof member === "object" && member !== null ? redact(member as Record<string, unknown>) : member;
}
