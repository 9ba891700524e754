/**
 * Holds back the calls that the rules of their credential do not let run at once.
 *
 * Rules of the mode `plan` reject a call without a plan. Where a person has to release it, the call becomes a
 * plan that waits, and the answer is 202 with the plan. Only a call that would succeed waits: its errors come
 * first.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { plans as contract } from "../../../../../tools/plans.ts";
import type { BoundRules } from "../../../../../tools/rules.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { lockOrganization } from "../../../account/organization/index.ts";
import { dependsOnTargets, hasOutsideHours, needsOf } from "../../../account/rules/index.ts";
import type { Module, Transaction } from "../../../foundation/kernel/index.ts";
import { unseal } from "../../../foundation/sealing/index.ts";
import { shownStatus } from "../states.ts";
import { getPlan, insertPlan, type PlanRow } from "../store.ts";
import { awaitApproval } from "./decide.ts";
import { creating, factsOfCall, factsOfEffect, needsOfPlan, noTargets } from "./facts.ts";

type CallGate = NonNullable<Module["gate"]>;
type GatedCall = Parameters<CallGate>[0];
type Response = Awaited<ReturnType<CallGate>>;

export const holdBack: CallGate = async (call) => {
  const { operation, context } = call;
  const rules = context.actor.rules ?? [];
  if (operation === contract.run_plan) {
    return holdBackRun(call, rules);
  }
  if (operation.path.startsWith(contract.plan_call.path)) {
    return undefined;
  }
  return (await call.write(({ tx }) => findHeld(tx, call))) ?? holdBackCall(call, rules);
};

async function holdBackCall(call: GatedCall, rules: readonly BoundRules[]): Promise<Response> {
  const { name, operation, caller, context, sent } = call;
  const { world } = context;
  const { openWorld } = operation.hints;
  const own = factsOfCall(name, call.input);
  const isOutside = await hasOutsideHours(world.database.queries, caller.organization_id, {
    rules,
    now: context.now,
  });
  const created = creating(name);
  const none = { ...noTargets, ...created };
  const unknown = { recipients: null, amount: null, newContacts: null };
  const facts = { ...own, isOutside };
  const isClear = ({ plan, person }: ReturnType<typeof needsOf>) => !plan && person.length === 0;
  const mayReach = openWorld.is && dependsOnTargets(rules);
  if (!mayReach && isClear(needsOf(rules, { ...facts, ...none }))) {
    return undefined;
  }
  const planned = findPlanned(call);
  if (!planned) {
    const { plan, person } = needsOf(rules, { ...facts, ...(openWorld.is ? unknown : none) });
    if (!plan && person.length === 0) {
      return undefined;
    }
    const reason = person.join(", and ") || "it needs a plan";
    throw fail("approval_required", { reason });
  }
  const steps = await planned.prepare({ world, caller });
  const effect = await call.write((writing) => steps.plan(writing));
  const needs = needsOf(rules, { ...facts, ...factsOfEffect(effect), ...created });
  if (isClear(needs)) {
    return undefined;
  }
  await call.rehearse();
  if (needs.person.length === 0) {
    throw fail("plan_required");
  }
  return call.write(async (writing) => {
    const { tx, organization, now } = writing;
    await lockOrganization(tx, organization);
    // Another request with the key may have made the plan meanwhile.
    const held = await findHeld(tx, call);
    if (held) {
      return held;
    }
    const plan = await insertPlan(writing, [planned, await steps.plan(writing)], heldColumns(call, rules));
    const waiting = await awaitApproval(writing, plan, needs.person);
    return toHeldResponse(waiting, now);
  });

  function findPlanned({ context: { world } }: GatedCall) {
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
}

function heldColumns({ route, key, hashes: [hash], caller }: GatedCall, rules: readonly BoundRules[]) {
  const asked_under = [...new Set([...caller.rule_holders, ...rules.map(({ holder }) => holder)])];
  return { call_route: route, call_key: key ?? null, call_hash: hash ?? null, asked_under };
}

/** The run of a plan that a person has to release: the plan waits, and keeps its targets. */
async function holdBackRun(call: GatedCall, rules: readonly BoundRules[]): Promise<Response> {
  const { caller, context } = call;
  const { id } = contract.run_plan.input.parse(call.input);
  return call.write(async (writing): Promise<Response> => {
    const { tx, organization, now } = writing;
    const plan = await getPlan(tx, organization, id, { locks: true });
    context.world.plannedCalls.requireReadable(caller, plan.operation);
    const status = shownStatus(plan, now);
    if (status === "awaiting_approval") {
      return toHeldResponse(plan, now);
    }
    const { person } = status === "ready" ? await needsOfPlan(writing, plan, rules) : { person: [] };
    return person.length === 0 ? undefined : toHeldResponse(await awaitApproval(writing, plan, person), now);
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
  if (!plan) {
    return undefined;
  }
  if (!hashes.includes(plan.call_hash ?? "")) {
    throw fail("idempotency_key_reused");
  }
  if (plan.status === "run" && plan.result !== null) {
    const body: unknown = JSON.parse(unseal(context.world, plan.result));
    return { status: operation.status, body, isReplay: true };
  }
  return { ...toHeldResponse(plan, context.now), isReplay: true };
}

function toHeldResponse(plan: PlanRow, now: Date) {
  const { id, summary, why, expires_at } = plan;
  const body = { data: { plan: { id, status: shownStatus(plan, now), summary, why, expires_at } } };
  return { status: 202, body, isReplay: false };
}
