/** The rows of plans. */
import { createHash } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { maxOpenPlans, planHours } from "../../../../tools/plans.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { lockOrganization } from "../../account/organization/index.ts";
import { removeUpload } from "../../content/uploads/index.ts";
import { freshId, recordOf, type World, type WriteContext } from "../../foundation/kernel/index.ts";
import { seal, unseal } from "../../foundation/sealing/index.ts";
import { emitPlanEvent } from "./events.ts";
import { beginPreparation, enqueueTurn } from "./preparation.ts";
import { advancePlan, type PlanStep, planStatusOf, shownStatus, toStoredStatus } from "./states.ts";
import { type CallEffect, type CallTarget, deleteTargets, insertTargets } from "./targets.ts";
import { addValues, countUnusual } from "./unusual.ts";

export type PlanRow = Selectable<Tables["plans"]>;

type Found = ReturnType<World["plannedCalls"]["find"]>;
type PlannedInput = Pick<Found, "name" | "input">;
type Input = Found["input"];
type TenantContext = Pick<WriteContext, "tx" | "world" | "organization" | "now">;

const Content = z.object({
  input: z.record(z.string(), z.unknown()),
  frozen: z.unknown(),
  /** The addresses of the files that the plan keeps. */
  addresses: z.array(z.string()).default([]),
  /** The storage keys of the files by their addresses. */
  files: z.record(z.string(), z.string()).default({}),
});
type Content = z.infer<typeof Content>;

export function readContentOf(world: World, { content }: Pick<PlanRow, "content">): Content {
  return Content.parse(JSON.parse(unseal(world, content)));
}

export function sealContent(world: World, content: Content): PlanRow["content"] {
  return seal(world, JSON.stringify(content));
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
      credential_id: caller.credential.id,
      asked_for: caller.acts_for,
      ...held,
      created_by: JSON.stringify(recordOf(actor)),
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + planHours * 3_600_000).toISOString(),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return storeTargets(context, await getPlan(tx, organization, id), effect);
}

/** A plan waits again that was released for a time. */
export const notReleased = { run_at: null, decided_by: null, decided_at: null, decision_reason: null };

/** Replaces what a locked plan would do. That voids its release. Its files are downloaded again. */
export async function replacePlan(
  context: WriteContext,
  plan: PlanRow,
  [call, effect]: readonly [Found, CallEffect],
): Promise<PlanRow> {
  const { tx, organization, now } = context;
  const { version } = requireStep(plan, beginPreparation(effect) ? "prepare" : "change", now);
  await removeFiles({ tx, organization }, plan);
  await deleteTargets(tx, plan);
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      ...columnsOfEffect(context, call, effect),
      version,
      result: null,
      result_status: null,
      ...(plan.run_at === null ? {} : notReleased),
    })
    .where("id", "=", plan.id)
    .execute();
  if (plan.run_at !== null) {
    emitPlanEvent(tx, "plan.awaiting", plan);
  }
  return storeTargets(context, await getPlan(tx, organization, plan.id), effect);
}

/** Stores what a locked plan would do, whose files a job has downloaded. */
export async function replaceEffect(
  context: TenantContext,
  plan: PlanRow,
  effect: CallEffect,
): Promise<PlanRow> {
  const { tx, world, organization } = context;
  const { input, files } = readContentOf(world, plan);
  const { targets, price, frozen, remaining, warnings } = effect;
  await deleteTargets(tx, plan);
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      ...preparationColumns(effect, (plan.preparation?.turn ?? 0) + 1),
      hash: hashOf(plan.operation, input, [targets, price, frozen, files, remaining]),
      price: price?.amount ?? null,
      currency: price?.currency ?? null,
      warnings: [...warnings],
      content: sealContent(world, { ...readContentOf(world, plan), frozen }),
    })
    .where("id", "=", plan.id)
    .execute();
  return storeTargets(context, await getPlan(tx, organization, plan.id), effect);
}

async function storeTargets(
  { tx, organization }: TenantContext,
  plan: PlanRow,
  { targets }: CallEffect,
): Promise<PlanRow> {
  const values = addValues(targets);
  const rows = targets.map((target, position) => ({
    ...target,
    position,
    unusual: countUnusual(target, values, targets.length),
  }));
  await insertTargets(tx, plan, rows);
  await enqueueTurn(tx, plan);
  return getPlan(tx, organization, plan.id);
}

/** The files of a plan that does not send them are deleted. */
export async function removeFiles(
  context: Pick<WriteContext, "tx" | "organization">,
  { upload_ids }: Pick<PlanRow, "upload_ids">,
): Promise<void> {
  for (const id of upload_ids) {
    await removeUpload(context, id);
  }
}

/** The steps after which the files of a plan have been sent. */
const sendingSteps: readonly PlanStep[] = ["run", "finish"];

export async function endPlan(
  { tx, world, organization, now }: TenantContext,
  plan: PlanRow,
  { step, result, status: result_status }: PlanEnd,
): Promise<PlanRow> {
  const { status } = requireStep(plan, step, now);
  if (!sendingSteps.includes(step)) {
    await removeFiles({ tx, organization }, plan);
  }
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      status: toStoredStatus(status),
      ended_at: now.toISOString(),
      intent: null,
      running_until: null,
      preparation: null,
      result_status,
      ...(result === undefined ? {} : { result: seal(world, JSON.stringify(result)) }),
    })
    .where("id", "=", plan.id)
    .execute();
  if (status === "run" || status === "failed") {
    emitPlanEvent(tx, `plan.${status}`, plan);
  }
  return getPlan(tx, organization, plan.id);
}

interface PlanEnd {
  readonly step: PlanStep;
  readonly result?: unknown;
  /** Of the response of a call to a third party. */
  readonly status?: number;
}

const actions: Readonly<Record<PlanStep, string>> = {
  run: "run",
  change: "amended",
  prepare: "amended",
  freeze: "prepared",
  abandon: "ended",
  lapse: "run",
  withdraw: "withdrawn",
  begin: "run",
  finish: "ended",
  fail: "ended",
  reopen: "run",
};

/** @throws Failure `plan_state` or `plan_preparing` if the locked plan can't take the step. */
export function requireStep(plan: PlanRow, step: PlanStep, now: Date) {
  const next = advancePlan({ ...plan, status: planStatusOf(plan) }, step, now);
  if (next) {
    return next;
  }
  const current_state = shownStatus(plan, now);
  if (current_state === "preparing") {
    throw fail("plan_preparing", { ...progressOf(plan), retry_after: 2 });
  }
  throw fail("plan_state", { current_state, action: actions[step] });
}

/** How many targets a plan has that is being prepared. */
export function progressOf({ prepared, total }: Pick<PlanRow, "prepared" | "total">) {
  return { prepared: prepared ?? 0, total: total ?? 0 };
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

async function requireFewOpen({ tx, organization, caller, now }: WriteContext): Promise<void> {
  const open = await ofOrganization(tx, organization)
    .selectFrom("plans")
    .select("id")
    .where("credential_id", "=", caller.credential.id)
    .where(sql<boolean>`(status = 'ready' or preparation is not null)`)
    .where("expires_at", ">", now.toISOString())
    .limit(maxOpenPlans)
    .execute();
  if (open.length >= maxOpenPlans) {
    throw fail("too_many_plans", { limit: maxOpenPlans });
  }
}

function columnsOfEffect({ world }: WriteContext, { name, input }: PlannedInput, effect: CallEffect) {
  const { summary, targets, price, warnings, frozen, subjects, addresses = [] } = effect;
  return {
    ...preparationColumns(effect),
    operation: name,
    summary,
    hash: hashOf(name, input, [targets, price, frozen, effect.remaining]),
    price: price?.amount ?? null,
    currency: price?.currency ?? null,
    warnings: [...warnings],
    subjects: [
      ...new Set([...subjects, ...subjectsIn(input), ...(targets.length === 1 ? subjectsOf(targets) : [])]),
    ],
    content: sealContent(world, { input, frozen, addresses: [...new Set(addresses)], files: {} }),
    upload_ids: [],
  };
}

function preparationColumns(effect: CallEffect, turn = 1) {
  const { targets, remaining } = effect;
  const preparation = beginPreparation(effect, turn);
  return {
    status: toStoredStatus(preparation ? "preparing" : "ready"),
    preparation: preparation && JSON.stringify(preparation),
    total: preparation && (remaining?.total ?? targets.length),
    prepared: preparation && 0,
    included: remaining ? 0 : null,
    excluded: remaining ? 0 : null,
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

function hashOf(operation: string, input: Input, effect: readonly unknown[]): string {
  return hashOfJson([operation, input, ...effect]);
}

export function hashOfJson(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}
