/** The job that ends the calls to third parties whose process died, and whose key no request repeats. */
import type { Operation } from "../../../../../tools/contract/index.ts";
import { system } from "../actor.ts";
import type { World } from "../context.ts";
import { defineScheduledJob, type ModuleJob } from "../job.ts";
import type { AnyOutwardHandler, Module } from "../module.ts";
import { codecFor } from "./execute-write.ts";
import { findAbandoned, takeOver } from "./intents.ts";
import { type OutwardTask, resolveAbandoned } from "./run-outward.ts";

export function createResolveJob(modules: readonly Module[]): ModuleJob {
  const operations = new Map(
    modules.flatMap(({ contract, operations }) =>
      Object.entries(contract).map(([name, operation]) => {
        const handler = operations[name];
        return [name, { operation, handler: handler && "begin" in handler ? handler : undefined }] as const;
      }),
    ),
  );
  return defineScheduledJob({
    name: "outward.resolve",
    schedule: "* * * * *",

    async run(world) {
      const abandoned = await findAbandoned(world.database.queries, [...operations.keys()], world.now());
      for (const row of abandoned) {
        const found = operations.get(row.operation);
        if (found) {
          // A third party that can't be asked now must not keep the others from being asked.
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
  { request_hash, operation: _, ...idempotencyKey }: AbandonedRow,
  { operation, handler }: { readonly operation: Operation; readonly handler: AnyOutwardHandler | undefined },
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
    const task: OutwardTask = { operation, handler, outward, request, own: taken.own };
    await resolveAbandoned(task, taken.stored);
  }
}
