/** Time limits of jobs that call a channel: they hold while the process collects garbage. */
import { EventEmitter, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Attempt } from "../src/jobs/job.ts";
import { receiveMessageJob } from "../src/platform/inbox/messages/inbound/receive.ts";
import { modules } from "../src/platform/index.ts";
import { auth } from "../tools/auth.ts";
import { messages } from "../tools/messages/index.ts";
import type { TestApp } from "./support/app.ts";
import {
  type GraphApi,
  type Inbox,
  openWindow,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";
import { createWorldProbe } from "./support/world.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const { probe, readWorld } = createWorldProbe();
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;

beforeAll(async () => {
  graph = await startGraphApi();
  ({ app, inbox } = await startWhatsAppApp(graph, { enabledModules: { ...modules, probe } }));
  await openWindow(app, inbox);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await graph[Symbol.asyncDispose]();
});
afterEach(() => {
  vi.useRealTimers();
});

const arrivals = new EventEmitter();

/** A call that ends with its signal alone. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    arrivals.emit("hanging");
  });
}

const receivedImage = {
  channel_message_id: "wamid.image",
  from: "+14155550123",
  name: null,
  details: {},
  occurred_at: "2026-06-01T10:00:00Z",
  content: { type: "image" as const, media: { url: "", caption: null, file_name: null } },
  file: { id: "1003383421387256", content_type: "image/jpeg" },
};

const attempt: Attempt = {
  id: "job_1",
  organization_id: null,
  number: 1,
  dueAt: "2026-06-01T10:00:00Z",
  traceparent: null,
  isLast: false,
  isTakeover: false,
  signal: new AbortController().signal,
  startNow: async () => undefined,
  requireClock: () => undefined,
  backOff: () => undefined,
};

const places = [
  {
    name: "a send",
    limitMs: 10_000,
    async start() {
      const { channels } = await readWorld(app);
      const channel = channels.whatsapp ?? expect.fail("no channel");
      vi.spyOn(channel, "send").mockImplementationOnce((_, { signal }) => hang(signal));
      const text = { type: "text" as const, text: { body: "hello" } };
      await app.call(messages.send_message, { to: "+14155550123", inbox_id: inbox.id, ...text });
    },
    run: () => app.runDueJobs(),
  },
  {
    name: "the copy of a received file",
    limitMs: 45_000,
    async start() {
      const { channels } = await readWorld(app);
      const provider = channels.whatsapp?.provider ?? expect.fail("no provider");
      vi.spyOn(provider, "fetchFile").mockImplementationOnce((_, { signal }) => hang(signal));
    },
    // Not by the queue: its polls would run out of time with the clock.
    async run() {
      const world = await readWorld(app);
      const { organization } = (await app.call(auth.whoami, {})).data;
      const payload = { organization_id: organization.id, inbox_id: inbox.id, message: receivedImage };
      await expect(receiveMessageJob.run(payload, world, attempt)).rejects.toThrow("longer than 45000 ms");
    },
  },
];

test.each(places)(
  "$name ends at its limit although garbage is collected",
  async ({ limitMs, start, run }) => {
    await start();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const hanging = once(arrivals, "hanging");
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    running.catch(() => undefined);
    await hanging;
    collectGarbage();
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    await running;
  },
);
