/** Connects the modules: the handlers of their hooks, and the plans of their operations. */
import type { World } from "../context.ts";
import { combineHandlers } from "../hook.ts";
import type { Module } from "../module.ts";
import { createPlannedCalls } from "./planned-calls.ts";

export function connectModules(modules: readonly Module[]): Pick<World, "hooks" | "plannedCalls"> {
  return {
    hooks: combineHandlers(modules.flatMap(({ hooks }) => hooks)),
    plannedCalls: createPlannedCalls(modules),
  };
}
