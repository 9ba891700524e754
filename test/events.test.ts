/** Events: told in the transaction of their cause, to each listener, in order, until it has listened. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { noMetrics } from "../src/adapters/telemetry/off.ts";
import type { NewJob } from "../src/jobs/job.ts";
import { modules } from "../src/platform/index.ts";
import type { World } from "../src/platform/kernel/context.ts";
import { emit } from "../src/platform/kernel/events.ts";
import { implement } from "../src/platform/kernel/module.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { useJobsFixture } from "./support/jobs-fixture.ts";
import { openPhone } from "./support/simulator.ts";

const heard: { type: string; status?: string; id: string }[] = [];
let failures = 0;

/** A module that only listens. */
const listener = implement(
  {},
  {
    operations: {},
    on: {
      "message.received": async ({ type, id }) => void heard.push({ type, id }),
      "message.sent": async ({ type, id, data }) => {
        if (failures > 0) {
          failures -= 1;
          throw new Error("not now");
        }
        heard.push({ type, id, status: data.status });
      },
      "message.delivered": async ({ type, id, data }) => void heard.push({ type, id, status: data.status }),
      "message.failed": async ({ type, id, data }) =>
        void heard.push({ type, id, status: data.error?.code ?? "" }),
    },
  },
);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ built: { ...modules, listener } });
});
afterAll(() => app[Symbol.asyncDispose]());

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });

test("a listener hears each step of a message once", async () => {
  heard.length = 0;
  await send("+14155550191");
  await app.advanceTime(1000);
  await app.runDueJobs();
  expect(heard.map(({ type }) => type)).toEqual(["message.sent", "message.delivered"]);
});

test("an inbound message is heard", async () => {
  heard.length = 0;
  await openPhone(app, "+14155550192").write("hi");
  await app.runDueJobs();
  expect(heard).toEqual([{ type: "message.received", id: expect.stringMatching(/^evt_/) }]);
});

test("a listener that failed hears the same event again", async () => {
  heard.length = 0;
  failures = 2;
  await send("+14155550193");
  await app.advanceTime(1000);
  await app.advanceTime(60_000);
  await app.advanceTime(60_000);
  expect(heard.filter(({ type }) => type === "message.sent")).toHaveLength(1);
});

const fixture = useJobsFixture();

test("what one transaction emits is written at its end, together and in order; rolled back, nothing is", async () => {
  const recorded: (readonly string[])[] = [];
  const promised: NewJob[] = [];
  const world = {
    now: fixture.now,
    metrics: noMetrics,
    listeners: new Map([["message.received", ["heard.it"]]]),
    recorders: [
      async (_: unknown, emissions: readonly { orderKey: string }[]) => {
        recorded.push(emissions.map(({ orderKey }) => orderKey));
        return [{ name: "tell.it", payload: null, organization_id: "org_1" }];
      },
    ],
    jobs: { enqueue: async (_: unknown, ...jobs: NewJob[]) => void promised.push(...jobs) },
  } as unknown as World; // all that emitting needs of it
  const tell = (orders: readonly string[], fails: boolean) =>
    fixture.database.transaction(async (tx) => {
      for (const order of orders) {
        const text = { body: order };
        const data = {
          message_id: "msg_1",
          conversation_id: order,
          from: "+14155550123",
          type: "text" as const,
          text,
        };
        emit(tx, world, { type: "message.received", organization_id: "org_1", order, data });
      }
      expect(recorded).toEqual([]);
      if (fails) {
        throw new Error("no");
      }
    });
  await expect(tell(["a"], true)).rejects.toThrow("no");
  await tell(["b", "a", "c"], false);
  expect(recorded).toEqual([["b", "a", "c"]]);
  expect(promised.map(({ key }) => key)).toEqual([undefined, "heard.it:b", "heard.it:a", "heard.it:c"]);
});
