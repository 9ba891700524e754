/**
 * Holds back the calls that the rules of their credential do not let run at once, and those that were beyond
 * a budget.
 *
 * Rules of the mode `plan` reject a call without a plan. Where a person has to release it, or the user of the
 * client has to confirm it, the call becomes a plan that waits, and the answer is 202 with the plan. Only a
 * call that would succeed waits: its errors come first. Whether a budget allows a call is known when it has
 * run: its transaction is rolled back, and then the call becomes a plan.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail, restoreFailure } from "../../../../../tools/errors.ts";
import { plans as contract } from "../../../../../tools/plans.ts";
import type { BoundRules } from "../../../../../tools/rules.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { lockOrganization } from "../../../account/organization/index.ts";
import {
  dependsOnTargets,
  hasOutsideHours,
  holdersOf,
  holdReasonsOf,
  type Needs,
  needsOf,
  readReached,
} from "../../../account/rules/index.ts";
import type { Module, Transaction, WriteContext } from "../../../foundation/kernel/index.ts";
import { readCallError, readResult } from "../outward.ts";
import { serializePlans } from "../serialize.ts";
import { planStatusOf, shownStatus } from "../states.ts";
import { getPlan, insertPlan, type PlanRow, requireStep } from "../store.ts";
import { awaitApproval, type Waiting } from "./decide.ts";
import { factsOfCall, factsOfEffect, needsOfPlan, noTargets, unknownOf } from "./facts.ts";

type CallGate = NonNullable<Module["gate"]>;
type GatedCall = Parameters<CallGate["hold"]>[0];
type Response = Awaited<ReturnType<CallGate["hold"]>>;

export const gate: CallGate = {
  hold: holdBack,

  async holdFailed(call, failure) {
    const reached = readReached(failure);
    if (!reached || reached.beyond === "refuse") {
      return undefined;
    }
    const waiting = { why: [`it is beyond ${reached.reason}`], isConfirmable: false };
    if (runOperations.includes(call.operation)) {
      return (writing) => holdBackPlan(writing, call, waiting);
    }
    const planned = findPlanned(call);
    if (!planned) {
      return undefined;
    }
    const steps = await planned.prepare({ world: call.context.world, caller: call.caller });
    return async (writing) => {
      const plan = await insertPlan(writing, [planned, await steps.plan(writing)], heldColumns(call));
      return toHeldResponse(await awaitApproval(writing, plan, waiting), writing.now);
    };
  },

  repeat: (call) =>
    call.write((writing) =>
      call.operation === contract.run_plan ? findRun(writing, call) : findHeld(writing.tx, call),
    ),
};

/** The operations by which a key runs a plan. */
const runOperations: readonly GatedCall["operation"][] = [contract.run_plan, contract.confirm_plan];
const RunInput = contract.run_plan.input.pick({ id: true });

/** @throws Failure `plan_state` if the plan ended meanwhile. */
async function holdBackPlan(writing: WriteContext, call: GatedCall, waiting: Omit<Waiting, "askedUnder">) {
  const { id } = RunInput.parse(call.input);
  const plan = await getPlan(writing.tx, writing.organization, id, { locks: true });
  requireStep(plan, "run", writing.now);
  const { asked_under: askedUnder } = heldColumns(call);
  return toHeldResponse(await awaitApproval(writing, plan, { ...waiting, askedUnder }), writing.now);
}

/** Whom a call waits for that needs somebody. */
function waitingOf(needs: Needs): Omit<Waiting, "askedUnder"> {
  return { why: holdReasonsOf(needs), isConfirmable: needs.person.length === 0 };
}

async function holdBack(call: GatedCall): Promise<Response> {
  const { operation, context } = call;
  const rules = context.actor.rules ?? [];
  if (operation === contract.run_plan) {
    return holdBackRun(call, rules);
  }
  if (operation.path.startsWith(contract.plan_call.path)) {
    return undefined;
  }
  return (await call.write(({ tx }) => findHeld(tx, call))) ?? holdBackCall(call, rules);
}

async function holdBackCall(call: GatedCall, rules: readonly BoundRules[]): Promise<Response> {
  const { name, operation, caller, context } = call;
  const { world } = context;
  const { openWorld } = operation.hints;
  const own = factsOfCall(name, call.input);
  const isOutside = await hasOutsideHours(world.database.queries, caller.organization_id, {
    rules,
    now: context.now,
  });
  const unknown = unknownOf(name, call.input);
  const none = { ...noTargets, ...unknown };
  const unplanned = { recipients: null, amount: null, newContacts: null };
  const facts = { ...own, isOutside };
  const isClear = (needs: Needs) => !needs.plan && holdReasonsOf(needs).length === 0;
  const mayReach = openWorld.is && dependsOnTargets(rules);
  if (!mayReach && isClear(needsOf(rules, { ...facts, ...none }))) {
    return undefined;
  }
  const planned = findPlanned(call);
  if (!planned) {
    const needs = needsOf(rules, { ...facts, ...(openWorld.is ? unplanned : none) });
    if (isClear(needs)) {
      return undefined;
    }
    const reason = holdReasonsOf(needs).join(", and ") || "it needs a plan";
    throw fail("approval_required", { reason });
  }
  const steps = await planned.prepare({ world, caller });
  const effect = await call.write((writing) => steps.plan(writing));
  const needs = needsOf(rules, { ...facts, ...factsOfEffect(effect), ...unknown });
  if (isClear(needs)) {
    return undefined;
  }
  await call.rehearse();
  if (holdReasonsOf(needs).length === 0) {
    throw fail("plan_required");
  }
  return call.writeHeld(async (writing) => {
    const { tx, organization, now } = writing;
    await lockOrganization(tx, organization);
    // An earlier version stored no response under the key, and a stored response ends before its plan.
    const held = await findHeld(tx, call);
    if (held) {
      return held;
    }
    const plan = await insertPlan(writing, [planned, await steps.plan(writing)], heldColumns(call));
    const waiting = await awaitApproval(writing, plan, waitingOf(needs));
    return toHeldResponse(waiting, now);
  });
}

/** The plan of a call; undefined if its operation has none. */
function findPlanned({ name, sent, caller, context: { world } }: GatedCall) {
  try {
    const input = sent as Readonly<Record<string, unknown>>; // parsed by an object schema
    return world.plannedCalls.find({ operation: name, input }, caller, world.hiddenBy);
  } catch (error) {
    if (error instanceof Failure && error.code === "operation_not_planned") {
      return undefined;
    }
    throw error;
  }
}

function heldColumns({ route, key, hashes: [hash], caller, context }: GatedCall) {
  const asked_under = holdersOf(context.actor, caller);
  return { call_route: route, call_key: key ?? null, call_hash: hash ?? null, asked_under };
}

/** The run of a plan that a person has to release: the plan waits, and keeps its targets. */
async function holdBackRun(call: GatedCall, rules: readonly BoundRules[]): Promise<Response> {
  const { caller, context } = call;
  const { id } = RunInput.parse(call.input);
  return call.writeIfHeld(async (writing) => {
    const { tx, organization, now } = writing;
    const plan = await getPlan(tx, organization, id, { locks: true });
    context.world.plannedCalls.requireReadable(caller, plan.operation);
    const status = shownStatus(plan, now);
    if (status === "awaiting_approval" || status === "released") {
      return toHeldResponse(plan, now);
    }
    const needs = status === "ready" ? await needsOfPlan(writing, plan, rules) : undefined;
    if (!needs || holdReasonsOf(needs).length === 0) {
      return undefined;
    }
    const { asked_under: askedUnder } = heldColumns(call);
    return toHeldResponse(await awaitApproval(writing, plan, { ...waitingOf(needs), askedUnder }), now);
  });
}

/** The answer to a call whose key has made a plan: its state, and after its run the operation's answer. */
async function findHeld(
  tx: Transaction,
  { caller, context, route, key, hashes, operation }: GatedCall,
): Promise<Response> {
  if (key === undefined) {
    return undefined;
  }
  const plan = await ofOrganization(tx, caller.organization_id)
    .selectFrom("plans")
    .selectAll()
    .where("credential_id", "=", caller.credential.id)
    .where("call_route", "=", route)
    .where("call_key", "=", key)
    .orderBy("id", "desc")
    .executeTakeFirst();
  if (!plan || hasKeyEnded(plan, context.now)) {
    return undefined;
  }
  if (!hashes.includes(plan.call_hash ?? "")) {
    throw fail("idempotency_key_reused");
  }
  const body = readDone(context, plan);
  return body === null
    ? { ...toHeldResponse(plan, context.now), isReplay: true }
    : { status: plan.result_status ?? operation.status, body, isReplay: true };
}

/** A key lasts as long as its plan may be run, and while the plan runs. */
function hasKeyEnded(plan: PlanRow, now: Date): boolean {
  return Date.parse(plan.expires_at) < now.getTime() && planStatusOf(plan) !== "running";
}

/** The answer to a run that was held back: the state of its plan, and after the run its answer. */
async function findRun(writing: WriteContext, { input }: GatedCall): Promise<Response> {
  const plan = await getPlan(writing.tx, writing.organization, RunInput.parse(input).id);
  const result = readDone(writing, plan);
  if (result === null) {
    return { ...toHeldResponse(plan, writing.now), isReplay: true };
  }
  const [shown] = await serializePlans(writing, [plan]);
  const body = contract.run_plan.output.parse({ data: { plan: shown, result } });
  return { status: contract.run_plan.status, body, isReplay: true };
}

/** The answer of the operation; null if the plan has not run. @throws Failure of the operation. */
function readDone({ world }: Pick<WriteContext, "world">, plan: PlanRow): unknown {
  const status = planStatusOf(plan);
  const error = status === "failed" && readCallError(world, plan);
  if (error) {
    throw restoreFailure(error, true);
  }
  return status === "run" ? readResult(world, plan) : null;
}

function toHeldResponse(plan: PlanRow, now: Date) {
  const { id, summary, why, confirmable, expires_at } = plan;
  const shown = { id, status: shownStatus(plan, now), summary, why, confirmable, expires_at };
  const body = { data: { plan: shown } };
  return { status: 202, body, isReplay: false };
}
