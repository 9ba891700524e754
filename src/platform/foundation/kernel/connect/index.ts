/** Connects the modules: the handlers of their hooks, the plans of their operations, and the record. */
import { createActLog, type OwnActLog } from "../call/index.ts";
import type { World } from "../context.ts";
import { combineHandlers } from "../hook.ts";
import type { Module } from "../module.ts";
import { createPlannedCalls } from "./planned-calls.ts";

type Connected = Pick<World, "hooks" | "plannedCalls"> & { readonly acts: OwnActLog };

export function connectModules(
  modules: readonly Module[],
  outside: Pick<World, "database" | "now" | "log">,
): Connected {
  return {
    hooks: combineHandlers(modules.flatMap(({ hooks }) => hooks)),
    plannedCalls: createPlannedCalls(modules),
    acts: createActLog({ ...outside, store: modules.find(({ actStore }) => actStore)?.actStore }),
  };
}
