/**
 * Hooks: functions of a module that run within the transaction of a module below, which does not depend on
 * them.
 *
 * The module below declares the hook and runs it. An event is handled after the commit; a hook is part of the
 * change itself.
 */
import { together } from "../../../database/transaction.ts";

/** A module's handler of a hook, for `implement`. */
export interface HookHandler {
  readonly hook: object;
  readonly handle: (...args: never) => Promise<unknown>;
}

/** The handlers of each hook, in the order of the modules. */
export type HookHandlers = ReadonlyMap<object, readonly HookHandler["handle"][]>;

export interface Hook<Args extends readonly unknown[], Result> {
  handledBy(handle: (...args: Args) => Promise<Result>): HookHandler;
  /**
   * Runs every handler; their statements are sent together, in the order of the modules.
   * @returns the result of each.
   */
  run(world: { readonly hooks: HookHandlers }, ...args: Args): Promise<Result[]>;
}

export function defineHook<Args extends readonly unknown[], Result = void>(): Hook<Args, Result> {
  const hook: Hook<Args, Result> = {
    handledBy: (handle) => ({ hook, handle }),
    run({ hooks }, ...args) {
      // `handledBy` is the only way to a handler of this hook.
      const handlers = (hooks.get(hook) ?? []) as readonly ((...args: Args) => Promise<Result>)[];
      return together(...handlers.map((handle) => handle(...args)));
    },
  };
  return hook;
}

export function combineHandlers(all: readonly HookHandler[]): HookHandlers {
  const handlers = new Map<object, HookHandler["handle"][]>();
  for (const { hook, handle } of all) {
    handlers.set(hook, [...(handlers.get(hook) ?? []), handle]);
  }
  return handlers;
}
