/** Events: recorded in the transaction that causes them, delivered to each listener in order, retried until it succeeds. */
import { expect, test } from "vitest";
import { noMetrics } from "../src/adapters/telemetry/off.ts";
import type { NewJob } from "../src/jobs/job.ts";
import { modules } from "../src/platform/index.ts";
import type { World } from "../src/platform/kernel/context.ts";
import { emit } from "../src/platform/kernel/events.ts";
import { implement } from "../src/platform/kernel/module.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { anyPayload, useJobsFixture } from "./support/jobs-fixture.ts";
import { openPhone } from "./support/simulator.ts";

const received: { type: string; status?: string; id: string }[] = [];
let failures = 0;

/** A module that only listens. */
const listener = implement(
  {},
  {
    operations: {},
    on: {
      "message.received": async ({ type, id }) => void received.push({ type, id }),
      "message.sent": async ({ type, id, data }) => {
        if (failures > 0) {
          failures -= 1;
          throw new Error("not now");
        }
        received.push({ type, id, status: data.status });
      },
      "message.delivered": async ({ type, id, data }) =>
        void received.push({ type, id, status: data.status }),
      "message.failed": async ({ type, id, data }) =>
        void received.push({ type, id, status: data.error?.code ?? "" }),
    },
  },
);

const app = useTestApp({ enabledModules: { ...modules, listener } });

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });

test("a listener receives each step of a message once", async () => {
  received.length = 0;
  await send("+14155550191");
  await app.advanceTime(1000);
  await app.runDueJobs();
  expect(received.map(({ type }) => type)).toEqual(["message.sent", "message.delivered"]);
});

test("an inbound message reaches the listeners", async () => {
  received.length = 0;
  await openPhone(app, "+14155550192").write("hi");
  await app.runDueJobs();
  expect(received).toEqual([{ type: "message.received", id: expect.stringMatching(/^evt_/) }]);
});

test("a listener that failed receives the same event again", async () => {
  received.length = 0;
  failures = 2;
  await send("+14155550193");
  await app.advanceTime(1000);
  await app.advanceTime(60_000);
  await app.advanceTime(60_000);
  expect(received.filter(({ type }) => type === "message.sent")).toHaveLength(1);
});

const fixture = useJobsFixture();

test("the events of a transaction are recorded together and in order when it ends, and not if it rolls back", async () => {
  const recorded: (readonly string[])[] = [];
  const enqueued: NewJob[] = [];
  const world = {
    now: fixture.now,
    metrics: noMetrics,
    listeners: new Map([["message.received", [{ name: "listener.job", payload: anyPayload }]]]),
    recorders: [
      async (_: unknown, emissions: readonly { orderKey: string }[]) => {
        recorded.push(emissions.map(({ orderKey }) => orderKey));
        return [{ name: "recorder.job", payload: null, organization_id: "org_1" }];
      },
    ],
    jobs: { enqueueAll: async (_: unknown, jobs: NewJob[]) => void enqueued.push(...jobs) },
  } as unknown as World; // the members that `emit` uses
  const emitAll = (orders: readonly string[], fails: boolean) =>
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
  await expect(emitAll(["a"], true)).rejects.toThrow("no");
  await emitAll(["b", "a", "c"], false);
  expect(recorded).toEqual([["b", "a", "c"]]);
  expect(enqueued.map(({ key }) => key)).toEqual([
    undefined,
    "listener.job:b",
    "listener.job:a",
    "listener.job:c",
  ]);
});
