/** Gives a test the world of its app, to call what only a channel or a job calls. */
import { implement, type World } from "../../src/platform/foundation/kernel/index.ts";

/** A module to enable in the app, and the function that reads the app's world through it. */
export function createWorldProbe() {
  let world: World | undefined;
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
          async handle(_, itsWorld) {
            world = itsWorld;
            return { status: 204 };
          },
        },
      ],
    },
  );
  async function readWorld(app: { fetch(path: string): Promise<unknown> }): Promise<World> {
    await app.fetch("/world");
    if (world === undefined) {
      throw new Error("the app does not have the probe's module");
    }
    return world;
  }
  return { probe, readWorld };
}
