/** Crashes around a call: what is safe to repeat is repeated, and nothing else is sent twice. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { HttpMethod } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { callNodes, createCallHelpers, createWebProbe, localSources } from "./support/flow-calls.ts";
import { say } from "./support/flows.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";

const { enabledModules, readWorld, replaceSend } = createWebProbe();
const app = useTestApp({ env: localSources, enabledModules });
const { create, start } = createCallHelpers(app);

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream([{ body: { ok: true } }]);
});
beforeEach(() => {
  upstream.requests.length = 0;
});
afterAll(() => upstream[Symbol.asyncDispose]());

const minute = 60_000;

class Crash extends Error {}

/** Where the process dies, once. */
type Place =
  | "before the intent"
  | "before the call"
  | "during the call"
  | "before the recording"
  | "after it";

/** Lets the process die at the place, once; the result ends that. */
async function crashAt(place: Place): Promise<() => void> {
  const world = await readWorld(app);
  const { database } = world;
  let [begun, sent, isOver] = [false, false, false];
  const die = (isHere: boolean) => {
    if (isHere && !isOver) {
      isOver = true;
      throw new Crash(place);
    }
  };
  const transaction: Database["transaction"] = async (work, options) => {
    const result = await database.transaction(async (tx) => {
      const done = await work(tx);
      // The job of the call is the one whose transaction returns the request.
      begun ||= typeof done === "object" && done !== null && "idempotencyKey" in done;
      die(place === "before the intent" && begun);
      die(place === "before the recording" && sent);
      return done;
    }, options);
    die(place === "after it" && sent);
    return result;
  };
  Object.assign(world, { database: { ...database, transaction } });
  const restoreWeb = await replaceSend(app, async (request, web) => {
    die(place === "before the call");
    const response = await web.send(request);
    die(place === "during the call");
    sent = true;
    return response;
  });
  return () => {
    expect(isOver).toBe(true);
    restoreWeb();
    Object.assign(world, { database });
  };
}

/** Runs a flow whose call is interrupted. */
async function runInterrupted(method: HttpMethod, interrupt: () => Promise<() => void>) {
  const body = method === "GET" || method === "HEAD" ? {} : { body: { amount: 1 } };
  const { id } = await create(callNodes({ url: upstream.url, method, save_as: "answer", ...body }));
  const started = await start(id);
  const restore = await interrupt();
  await app.runDueJobs();
  await app.advanceTime(minute);
  restore();
  await app.advanceTime(minute);
  const { run, texts } = await started.run();
  const keys = upstream.requests.map(({ headers }) => headers["idempotency-key"]);
  const errors = run?.path.flatMap(({ error }) => error ?? []);
  expect(run?.status).toBe("completed");
  return { keys, sent: keys.length, distinct: new Set(keys).size, texts, errors };
}

const done = { distinct: 1, texts: ["done"], errors: [] };
const unknown = { distinct: 1, texts: ["failed"], errors: ["http_outcome_unknown"] };

describe.each(["GET", "HEAD", "PUT", "DELETE"] as const)("%s is sent again after a crash", (method) => {
  test.each([
    ["before the intent", 1],
    ["before the call", 1],
    ["during the call", 2],
    ["before the recording", 2],
    ["after it", 1],
  ] as const)("%s: %i requests, with one key", async (place, sent) => {
    expect(await runInterrupted(method, () => crashAt(place))).toMatchObject({ ...done, sent });
  });
});

describe.each(["POST", "PATCH"] as const)("%s is never sent twice after a crash", (method) => {
  test.each([
    ["before the intent", { ...done, sent: 1 }],
    ["before the call", { ...unknown, sent: 0, distinct: 0 }],
    ["during the call", { ...unknown, sent: 1 }],
    ["before the recording", { ...unknown, sent: 1 }],
    ["after it", { ...done, sent: 1 }],
  ] as const)("%s", async (place, expected) => {
    expect(await runInterrupted(method, () => crashAt(place))).toMatchObject(expected);
  });
});

describe("a shutdown during the call", () => {
  const abortOnce = () => {
    let isAborted = false;
    return replaceSend(app, async (request, web) => {
      if (isAborted) {
        return web.send(request);
      }
      isAborted = true;
      return { outcome: "failed", reason: "aborted", detail: "The service is stopping.", ms: 1 };
    });
  };

  test("does not lose the run of a GET, which is sent again", async () => {
    expect(await runInterrupted("GET", abortOnce)).toMatchObject({ ...done, sent: 1 });
  });

  test("does not lose the run of a POST, whose outcome is unknown", async () => {
    expect(await runInterrupted("POST", abortOnce)).toMatchObject({ ...unknown, sent: 0, distinct: 0 });
  });
});

test("a call that is interrupted in every attempt ends with an unknown outcome", async () => {
  const crashAlways = () =>
    replaceSend(app, async () => {
      throw new Crash();
    });
  const { id } = await create(callNodes({ url: upstream.url }));
  const started = await start(id);
  const restore = await crashAlways();
  for (let hour = 0; hour < 12; hour += 1) {
    await app.advanceTime(60 * minute);
  }
  restore();
  const { run, texts } = await started.run();
  expect([run?.status, texts]).toEqual(["completed", ["failed"]]);
  expect(run?.path[1]?.error).toBe("http_outcome_unknown");
});

test("a repeated job of a call that has ended leaves the next call alone", async () => {
  const second = { id: "second", node_type: "http_request", parent_node_id: "call" } as const;
  const post = { url: upstream.url, method: "POST", body: {} } as const;
  const { id } = await create([
    { id: "call", node_type: "http_request", action_config: post },
    { ...second, action_config: post },
    { ...say("done"), parent_node_id: "second" },
    { ...say("failed"), parent_node_id: "second", connection_type: "error" },
  ]);
  const started = await start(id);
  const { queries } = app.server.database;
  let restoreCrash: (() => void) | undefined;
  const restore = await replaceSend(app, async (request, web) => {
    if (restoreCrash === undefined) {
      const later = new Date(app.now().getTime() + 1).toISOString();
      await sql`
        insert into jobs (id, name, lane, payload, organization_id, run_at, created_at)
        select id || '_repeated', name, lane, payload, organization_id, ${later}, created_at from jobs where name = 'flow.call'
      `.execute(queries);
      // The job of the second call is tried again later than the repeated one runs.
      restoreCrash = await crashAt("before the intent");
    }
    return web.send(request);
  });
  await app.runDueJobs();
  await app.advanceTime(1);
  expect(upstream.requests).toHaveLength(1);
  await app.advanceTime(minute);
  restoreCrash?.();
  restore();
  const { run, texts } = await started.run();
  expect([run?.status, texts, upstream.requests.length]).toEqual(["completed", ["done"], 2]);
});
