/** Gives a test the world of its app, to call what only a channel or a job calls. */
import { type Caller, implement, type World } from "../../src/platform/foundation/kernel/index.ts";
import type { TestApp } from "./app.ts";

/** A module to enable in the app, and the functions that read the app's world and its caller through it. */
export function createWorldProbe() {
  let seen: { readonly world: World; readonly caller: Caller } | undefined;
  const probe = implement(
    {},
    {
      operations: {},
      routes: [
        {
          methods: ["GET"],
          path: "/world",
          credential: "any",
          scope: "inbox:read",
          body: "none",
          async handle({ caller }, world) {
            seen = { world, caller };
            return { status: 204 };
          },
        },
      ],
    },
  );
  async function read(app: Pick<TestApp, "fetch">) {
    await app.fetch("/world");
    if (seen === undefined) {
      throw new Error("the app does not have the probe's module");
    }
    return seen;
  }
  return {
    probe,
    readWorld: async (app: Pick<TestApp, "fetch">) => (await read(app)).world,
    /** The caller of the owner's key. */
    readCaller: async (app: Pick<TestApp, "fetch">) => (await read(app)).caller,
  };
}
