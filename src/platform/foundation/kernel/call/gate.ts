/**
 * Holds calls back: a module may answer a call whose credential is bound by rules before it runs. Calls of
 * other credentials do not pass here.
 */
import type { Actor } from "../actor.ts";
import type { CallGate, GatedCall } from "../module.ts";
import { findPreviousResponse } from "./execute-write.ts";
import { type CallResponse, hashRequest } from "./idempotency/index.ts";
import { createResponse, createTenantContext, type OperationCall, prepareHandler } from "./operation-call.ts";

/** A response to an earlier call with the key comes first, and so do the calls that only read. */
export async function passGates(
  gates: readonly CallGate[],
  call: OperationCall,
  sent: unknown,
): Promise<CallResponse | undefined> {
  const { effect, credential } = call.operation;
  const isBound = call.context.actor.rules !== undefined;
  if (!isBound || credential === "person" || (effect !== "write" && effect !== "outward")) {
    return undefined;
  }
  if (await findPreviousResponse(call, [call.input])) {
    return undefined;
  }
  const gated = toGated(call, sent);
  for (const gate of gates) {
    const held = await gate(gated);
    if (held) {
      return held;
    }
  }
  return undefined;
}

class RolledBack extends Error {}

function toGated(call: OperationCall, sent: unknown): GatedCall {
  const { name, operation, caller, context, input, key, route } = call;
  const { world } = context;
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
    async rehearse() {
      const effect = await prepareHandler(call, input);
      const actor = withoutModes(context.actor);
      try {
        await write(async (writing) => {
          createResponse(operation, await effect({ ...writing, actor }));
          throw new RolledBack();
        });
      } catch (error) {
        if (!(error instanceof RolledBack)) {
          throw error;
        }
      }
    },
  };
}

/** What the call would do once it is released. */
function withoutModes({ rules = [], ...actor }: Actor): Actor {
  return { ...actor, rules: rules.map((one) => ({ ...one, mode: "auto" as const, approve: {} })) };
}
