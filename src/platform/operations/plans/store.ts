/** The rows of plans and of their targets. */
import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { sql } from "kysely";
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { maxOpenPlans, planHours } from "../../../../tools/plans.ts";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, ofOrganization, recordset } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { lockOrganization } from "../../account/organization/index.ts";
import {
  freshId,
  recordOf,
  type Transaction,
  type World,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { seal, unseal } from "../../foundation/sealing/index.ts";
import { advancePlan, type PlanStep, shownStatus } from "./states.ts";
import { countUnusual } from "./unusual.ts";

export type PlanRow = Selectable<Tables["plans"]>;
export type TargetRow = Selectable<Tables["plan_targets"]>;

type Found = ReturnType<World["plannedCalls"]["find"]>;
type Prepared = Awaited<ReturnType<Found["prepare"]>>;
export type CallEffect = Awaited<ReturnType<Prepared["plan"]>>;
export type CallTarget = CallEffect["targets"][number];
type Input = Found["input"];

const Content = z.object({ input: z.record(z.string(), z.unknown()), frozen: z.unknown() });

export function readContentOf(world: World, { content }: Pick<PlanRow, "content">) {
  return Content.parse(JSON.parse(unseal(world, content)));
}

/** The columns of a call that was held back. */
type HeldCall = Partial<Pick<PlanRow, "call_route" | "call_key" | "call_hash" | "asked_under">>;

/** @throws Failure `too_many_plans`. */
export async function insertPlan(
  context: WriteContext,
  [call, effect]: readonly [Found, CallEffect],
  held: HeldCall = {},
): Promise<PlanRow> {
  const { tx, organization, caller, actor, now } = context;
  // Serialized, so that two requests do not both take the last place.
  await lockOrganization(tx, organization);
  await requireFewOpen(context);
  const { id } = await tx
    .insertInto("plans")
    .values({
      ...columnsOfEffect(context, call, effect),
      organization_id: organization,
      id: freshId({ now }, "plan"),
      version: 1,
      status: "ready",
      credential_id: caller.credential.id,
      asked_for: caller.acts_for,
      ...held,
      created_by: JSON.stringify(recordOf(actor)),
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + planHours * 3_600_000).toISOString(),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await insertTargets(tx, { organization, id }, effect.targets);
  return getPlan(tx, organization, id);
}

/** Replaces what a locked plan would do. */
export async function replacePlan(
  context: WriteContext,
  plan: PlanRow,
  [call, effect]: readonly [Found, CallEffect],
): Promise<PlanRow> {
  const { tx, organization, now } = context;
  const { version } = requireStep(plan, "change", now);
  await ofOrganization(tx, organization).deleteFrom("plan_targets").where("plan_id", "=", plan.id).execute();
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ ...columnsOfEffect(context, call, effect), version })
    .where("id", "=", plan.id)
    .execute();
  await insertTargets(tx, { organization, id: plan.id }, effect.targets);
  return getPlan(tx, organization, plan.id);
}

export async function endPlan(
  { tx, world, organization, now }: Pick<WriteContext, "tx" | "world" | "organization" | "now">,
  plan: PlanRow,
  { step, result }: { readonly step: PlanStep; readonly result?: unknown },
): Promise<PlanRow> {
  const { status } = requireStep(plan, step, now);
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      status,
      ended_at: now.toISOString(),
      ...(result === undefined ? {} : { result: seal(world, JSON.stringify(result)) }),
    })
    .where("id", "=", plan.id)
    .execute();
  return getPlan(tx, organization, plan.id);
}

const actions: Readonly<Record<PlanStep, string>> = {
  run: "run",
  change: "amended",
  lapse: "run",
  withdraw: "withdrawn",
};

/** @throws Failure `plan_state` if the locked plan can't take the step. */
export function requireStep(plan: PlanRow, step: PlanStep, now: Date) {
  const next = advancePlan(plan, step, now);
  if (!next) {
    throw fail("plan_state", { current_state: shownStatus(plan, now), action: actions[step] });
  }
  return next;
}

/** @throws Failure `plan_not_found`. */
export async function getPlan(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<PlanRow> {
  const plan = await ofOrganization(db, organization)
    .selectFrom("plans")
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!plan) {
    throw fail("plan_not_found");
  }
  return plan;
}

export function readTargets(db: Queries, organization: string, id: string): Promise<TargetRow[]> {
  return ofOrganization(db, organization)
    .selectFrom("plan_targets")
    .selectAll()
    .where("plan_id", "=", id)
    .orderBy("position")
    .execute();
}

async function requireFewOpen({ tx, organization, caller, now }: WriteContext): Promise<void> {
  const open = await ofOrganization(tx, organization)
    .selectFrom("plans")
    .select("id")
    .where("credential_id", "=", caller.credential.id)
    .where("status", "=", "ready")
    .where("expires_at", ">", now.toISOString())
    .limit(maxOpenPlans)
    .execute();
  if (open.length >= maxOpenPlans) {
    throw fail("too_many_plans", { limit: maxOpenPlans });
  }
}

function columnsOfEffect({ world }: WriteContext, { name, input }: Found, effect: CallEffect) {
  const { summary, targets, price, warnings, frozen, subjects } = effect;
  return {
    operation: name,
    summary,
    hash: hashOf(name, input, effect),
    price: price?.amount ?? null,
    currency: price?.currency ?? null,
    warnings: [...warnings],
    subjects: [
      ...new Set([...subjects, ...subjectsIn(input), ...(targets.length === 1 ? subjectsOf(targets) : [])]),
    ],
    content: seal(world, JSON.stringify({ input, frozen })),
  };
}

/** With one target, the plan is erased with it. */
function subjectsOf(targets: readonly CallTarget[]): string[] {
  return targets.flatMap(({ contact_id, to }) => [contact_id ?? [], to ?? []].flat());
}

/** The ids of contacts and conversations, and the phone numbers, in the input. */
function subjectsIn(input: Input): string[] {
  return JSON.stringify(input).match(/(?:con|conv)_[0-9a-z]{26}|\+\d{6,15}/g) ?? [];
}

function hashOf(operation: string, input: Input, { targets, price, frozen }: CallEffect): string {
  const content = JSON.stringify([operation, input, targets, price, frozen]);
  return createHash("sha256").update(content).digest("base64url");
}

const targetColumns = columnsOf(
  "plan_targets",
  "position",
  "contact_id",
  "to",
  "name",
  "text",
  "reason",
  "unusual",
  "frozen",
);

async function insertTargets(
  tx: Transaction,
  { organization, id }: { readonly organization: string; readonly id: string },
  targets: readonly CallTarget[],
): Promise<void> {
  const unusual = countUnusual(targets);
  const rows = targets.map((target, position) => ({ ...target, position, unusual: unusual[position] ?? 0 }));
  await sql`
    insert into plan_targets (organization_id, plan_id, position, contact_id, "to", name, text, reason, unusual, frozen)
    select ${organization}, ${id}, position, contact_id, "to", name, text, reason, unusual, frozen
    from ${recordset("target", targetColumns, rows)}
  `.execute(tx);
}
