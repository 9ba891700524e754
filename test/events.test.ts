/**
 * Events: recorded in the transaction that causes them; a job that a recorder adds runs in their
 * order, until it succeeds.
 *
 * @module-tag both
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { newJob } from "../src/jobs/job.ts";
import { defineJob } from "../src/platform/foundation/kernel/job.ts";
import { implement } from "../src/platform/foundation/kernel/module.ts";
import { modules } from "../src/platform/index.ts";
import { fail } from "../tools/errors.ts";
import type { Event } from "../tools/events.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";

const received: { type: string; status?: string; id: string }[] = [];
let failures = 0;

const hearJob = defineJob<Event>({
  name: "listener.hear",
  payload: z.custom<Event>(),
  async run({ type, id, data }) {
    if (type === "message.sent" && failures > 0) {
      failures -= 1;
      throw new Error("not now");
    }
    received.push({ type, id, ...("status" in data && { status: String(data.status) }) });
    return undefined;
  },
});

/** A module that does something about each event after its commit. */
const listener = implement(
  {},
  {
    operations: {},
    jobs: [hearJob],
    recordEvents: async (_, emissions) =>
      emissions.map(({ event, orderKey }) => newJob(hearJob, event, { key: `listener:${orderKey}` })),
  },
);

const app = useTestApp({ enabledModules: { ...modules, listener } });

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });

test("a recorder hears of each step of a message once", async () => {
  received.length = 0;
  await send("+14155550191");
  await app.advanceTime(1000);
  await app.runDueJobs();
  expect(received.map(({ type }) => type)).toEqual(["message.sent", "message.delivered"]);
});

test("a recorder hears of an inbound message", async () => {
  received.length = 0;
  await openPhone(app, "+14155550192").write("hi");
  await app.runDueJobs();
  expect(received).toEqual([{ type: "message.received", id: expect.stringMatching(/^evt_/) }]);
});

test("a job about an event that failed gets the same event again", async () => {
  received.length = 0;
  failures = 2;
  await send("+14155550193");
  await app.advanceTime(1000);
  await app.advanceTime(60_000);
  await app.advanceTime(60_000);
  expect(received.filter(({ type }) => type === "message.sent")).toHaveLength(1);
});

const recorderJob = defineJob({ name: "recorder.job", payload: z.object({}), run: async () => undefined });
const recorded: (readonly string[])[] = [];

/**
 * A module that emits events in one transaction when its route is called, and records those of a transaction.
 */
const emitter = implement(
  {},
  {
    operations: {},
    jobs: [recorderJob],
    async recordEvents(_, emissions) {
      recorded.push(emissions.map(({ orderKey }) => orderKey));
      return emissions.map(({ orderKey }) => newJob(recorderJob, {}, { key: orderKey }));
    },
    routes: [
      {
        methods: ["POST"],
        path: "/emit",
        credential: "any",
        scope: "inbox:write",
        body: "none",
        async handle({ organization_id, query }, world) {
          await world.database.transaction(async (tx) => {
            for (const order of [query.order ?? []].flat()) {
              const message = { message_id: "msg_1", conversation_id: order, from: "+14155550123" };
              const data = { ...message, type: "text" as const, text: { body: order } };
              tx.emit({ type: "message.received", organization_id, order, data });
            }
            expect(recorded).toEqual([]);
            if (query.fails) {
              throw fail("unavailable", { reason: "the test says so." });
            }
          });
          return { status: 204 };
        },
      },
    ],
  },
);

const emitting = useTestApp({ enabledModules: { emitter } });

test("the events of a transaction are recorded together and in order when it ends, and not if it rolls back", async () => {
  const failed = await emitting.fetch("/emit?order=a&fails=true", { method: "POST" });
  expect(failed.status).toBe(503);
  const emitted = await emitting.fetch("/emit?order=b&order=a&order=c", { method: "POST" });
  expect(emitted.status).toBe(204);
  expect(recorded).toEqual([["b", "a", "c"]]);
  const enqueued = await emitting.server.database.queries
    .selectFrom("jobs")
    .select(["name", "key"])
    .orderBy("id")
    .execute();
  expect(enqueued).toEqual([
    { name: "recorder.job", key: "b" },
    { name: "recorder.job", key: "a" },
    { name: "recorder.job", key: "c" },
  ]);
});
