/**
 * Holds calls back: a module may answer a call whose credential is bound by rules before it runs, and a call
 * that failed because of a budget after that. Other calls cost no statement here.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { WriteContext } from "../context.ts";
import type { CallGate, GatedCall } from "../module.ts";
import { executeHeld, findPreviousResponse } from "./execute-write.ts";
import { type CallResponse, hashRequest } from "./idempotency/index.ts";
import {
  createResponse,
  createTenantContext,
  isHeldResponse,
  type OperationCall,
  outwardStepsOf,
  prepareHandler,
  rehearse,
} from "./operation-call.ts";

/** Runs a call, unless a gate holds it back. */
export async function runGated(
  gates: readonly CallGate[],
  call: OperationCall,
  { sent, run }: { readonly sent: unknown; readonly run: () => Promise<CallResponse> },
): Promise<CallResponse> {
  const { effect, credential } = call.operation;
  if (credential === "person" || (effect !== "write" && effect !== "outward")) {
    return run();
  }
  const held = await passGates(gates, call, sent);
  if (held) {
    return held;
  }
  try {
    const response = await run();
    return isHeldResponse(call, response) ? await repeatHeld(gates, call, { sent, response }) : response;
  } catch (error) {
    const isNew = error instanceof Failure && !error.isReplay;
    const later = isNew ? await holdFailed(gates, call, { sent, failure: error }) : undefined;
    if (!later) {
      throw error;
    }
    return later;
  }
}

/** A response to an earlier call with the key comes first. */
async function passGates(
  gates: readonly CallGate[],
  call: OperationCall,
  sent: unknown,
): Promise<CallResponse | undefined> {
  if (call.context.actor.rules === undefined) {
    return undefined;
  }
  const response = await findPreviousResponse(call, [call.input]);
  if (response) {
    return isHeldResponse(call, response) ? repeatHeld(gates, call, { sent, response }) : undefined;
  }
  const gated = toGated(call, sent);
  return firstOf(gates, (gate) => gate.hold(gated));
}

async function holdFailed(
  gates: readonly CallGate[],
  call: OperationCall,
  { sent, failure }: { readonly sent: unknown; readonly failure: Failure },
): Promise<CallResponse | undefined> {
  const gated = toGated(call, sent);
  const hold = await firstOf(gates, (gate) => gate.holdFailed(gated, failure));
  return hold && executeHeld(call, { failure, effect: hold });
}

/** A call that waits is answered with its present state. */
async function repeatHeld(
  gates: readonly CallGate[],
  call: OperationCall,
  { sent, response }: { readonly sent: unknown; readonly response: CallResponse },
): Promise<CallResponse> {
  const gated = toGated(call, sent);
  return (await firstOf(gates, (gate) => gate.repeat(gated))) ?? response;
}

async function firstOf<Result>(
  gates: readonly CallGate[],
  ask: (gate: CallGate) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (const gate of gates) {
    const result = await ask(gate);
    if (result) {
      return result;
    }
  }
  return undefined;
}

function toGated(call: OperationCall, sent: unknown): GatedCall {
  const { name, operation, caller, context, input, key, route, record } = call;
  const { world } = context;
  const failure = fail("approval_required", { reason: "a rule holds it back" });
  const write: GatedCall["write"] = (effect) =>
    world.database.transaction((tx) => effect(createTenantContext(call, { db: tx, tx })));
  return {
    name,
    operation,
    caller,
    context,
    input,
    sent,
    key,
    route,
    hashes: hashRequest(world, name, input),
    write,
    writeHeld: (effect) => executeHeld(call, { failure, effect }),
    writeIfHeld: (effect) =>
      write(async (writing) => {
        const held = await effect(writing);
        if (held && !held.isReplay) {
          record.holdWith(writing.tx, held, failure);
        }
        return held;
      }),
    async rehearse() {
      const effect = await prepareRehearsal(call);
      await write((writing) => rehearse(writing, effect));
    },
  };
}

/** The whole write; of a call to a third party the part before it. */
async function prepareRehearsal(call: OperationCall): Promise<(context: WriteContext) => Promise<unknown>> {
  const { handler, operation, input } = call;
  const steps = outwardStepsOf(handler);
  if (steps) {
    return (writing) => steps.begin(input, writing);
  }
  const effect = await prepareHandler(call, input);
  return async (writing) => createResponse(operation, await effect(writing));
}
