/** The job that ends calls to third parties whose process died, if no request repeats their key. */
import { type IdempotencyKey, system } from "../../actor.ts";
import type { World } from "../../context.ts";
import { defineScheduledJob, type ModuleJob } from "../../job.ts";
import type { Module } from "../../module.ts";
import { type ActAgent, createCallRecord } from "../acts/index.ts";
import { codecFor } from "../execute-write.ts";
import { type BoundOperation, bindHandlers, outwardStepsOf } from "../operation-call.ts";
import { claimOfKey, findAbandoned, type StoredIntent, takeOver } from "./intents.ts";
import { type OutwardTask, resolveAbandoned } from "./run.ts";

export function createResolveJob(modules: readonly Module[]): ModuleJob {
  const operations = new Map(modules.flatMap(bindHandlers));
  return defineScheduledJob({
    name: "outward.resolve",
    schedule: "* * * * *",

    async run(world) {
      const abandoned = await findAbandoned(world.database.queries, [...operations.keys()], world.now());
      for (const row of abandoned) {
        const found = operations.get(row.operation);
        if (found) {
          // If one third party can't be reached, the other calls are still resolved.
          await resolveOne(world, row, found).catch((error: unknown) =>
            world.log.warn(
              { err: error, operation: row.operation },
              "An interrupted call could not be looked up",
            ),
          );
        }
      }
    },
  });
}

type AbandonedRow = Awaited<ReturnType<typeof findAbandoned>>[number];

async function resolveOne(
  world: World,
  { request_hash, operation: name, ...idempotencyKey }: AbandonedRow,
  { operation, handler }: BoundOperation,
): Promise<void> {
  const now = world.now();
  const request = { idempotencyKey, hashes: [request_hash], codec: codecFor(operation, world), now };
  const taken = await world.database.transaction((tx) => takeOver(tx, request));
  if (taken) {
    const outward = {
      world,
      now,
      actor: system,
      organization: idempotencyKey.organization_id,
      signal: world.stopping,
    };
    const steps = outwardStepsOf(handler);
    const record = createCallRecord(
      { acts: world.acts, name, operation, tool: undefined, input: undefined, now },
      toAgent(idempotencyKey, taken.stored.actor),
    );
    const claim = claimOfKey(request, taken.own);
    const task: OutwardTask = { operation, handler: steps, outward, claim, record };
    await resolveAbandoned(task, taken.stored).catch((error: unknown) => {
      record.fail(error);
      throw error;
    });
  }
}

/** The caller of an interrupted call; of its input, only a hash is known. */
function toAgent(
  { organization_id, credential_id }: IdempotencyKey,
  { type, name }: StoredIntent["actor"],
): ActAgent {
  const isUser = type === "user";
  return { organization_id, type: isUser ? "user" : "api_key", id: credential_id, name, session_id: null };
}
