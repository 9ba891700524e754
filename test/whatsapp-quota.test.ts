/** How often a person is written to, and how often a message is tried, over restarts and processes. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { lendTestDatabase, type TestDatabase } from "./support/database.ts";
import {
  type createWhatsAppInbox,
  type GraphApi,
  graphError,
  openWindow,
  sendText,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";

// The embedded database has one process.
const person = "+14155550123";

let graph: GraphApi;
let database: TestDatabase;
let app: TestApp;
let inbox: Awaited<ReturnType<typeof createWhatsAppInbox>>;

beforeEach(async () => {
  graph = await startGraphApi();
  database = await lendTestDatabase();
  ({ app, inbox } = await startWhatsAppApp(graph, { database }));
  await openWindow(app, inbox);
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await graph[Symbol.asyncDispose]();
});

const startOther = () => startTestApp({ database, startsAt: app.now(), env: graph.env });

async function restart(): Promise<void> {
  const startsAt = app.now();
  await app[Symbol.asyncDispose]();
  app = await startTestApp({ database, startsAt, env: graph.env });
}

async function write(count: number, through = app): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const text = { body: `message ${index}` };
    await through.call(messages.send_message, { to: person, type: "text", text, inbox_id: inbox.id });
  }
}

/** The rate of the number spreads messages over the second. */
async function advanceSecond(...apps: readonly TestApp[]): Promise<void> {
  for (let tenth = 0; tenth < 10; tenth += 1) {
    await Promise.all(apps.map((one) => one.advanceTime(100)));
  }
}

describe("the quota of a person", () => {
  test("holds after a restart", async () => {
    await write(46);
    await advanceSecond(app);
    expect(graph.sent()).toHaveLength(45);
    await restart();
    await app.advanceTime(4_999);
    expect(graph.sent()).toHaveLength(45);
    await app.advanceTime(1);
    expect(graph.sent()).toHaveLength(46);
  });

  test("counts all messages that are claimed together", async () => {
    await write(60);
    // As those of broadcasts, which have no order.
    await sql`update jobs set key = null where name = 'message.deliver'`.execute(app.server.database.queries);
    await advanceSecond(app);
    await app.advanceTime(4_000);
    expect(graph.sent()).toHaveLength(45);
    await app.advanceTime(7_000);
    expect(graph.sent()).toHaveLength(47);
    await app.advanceTime(90_000);
    await advanceSecond(app);
    expect(graph.sent()).toHaveLength(60);
  });

  test("is not used by a message that was not accepted, nor shared with another person", async () => {
    const accept = graph.routes["POST messages"];
    graph.routes["POST messages"] = () => graphError(130429);
    await write(1);
    await app.runDueJobs();
    graph.routes["POST messages"] = accept ?? (() => "hang");
    graph.requests.length = 0;
    await write(44);
    await openWindow(app, inbox, "14155550124");
    await sendText(app, inbox, "+14155550124");
    await app.advanceTime(5_000);
    await advanceSecond(app);
    expect(graph.sent()).toHaveLength(46);
  });

  test("holds over two processes", { tags: "postgres" }, async () => {
    await using other = await startOther();
    await write(40);
    await write(40, other);
    await advanceSecond(app, other);
    await advanceSecond(app, other);
    expect(graph.sent()).toHaveLength(45);
    for (let second = 0; second < 4; second += 1) {
      await advanceSecond(app, other);
    }
    expect(graph.sent()).toHaveLength(46);
  });
});

describe("the tries of a message", () => {
  test("that meets an error that may pass are three, also over a restart", async () => {
    graph.routes["POST messages"] = () => graphError(131000, {}, { status: 500 });
    await write(1);
    await app.advanceTime(1_000);
    await restart();
    await app.advanceTime(60_000);
    await app.advanceTime(60_000);
    expect(graph.sent()).toHaveLength(3);
  });

  test("to a person with too many wait 1, 4 and 16 seconds, also over a restart; a busy number does not count", async () => {
    const answers = [131056, 130429, 131056, 131056].map((code) => graphError(code));
    const accept = graph.routes["POST messages"];
    graph.routes["POST messages"] = (request) => answers.shift() ?? accept?.(request) ?? "hang";
    await write(1);
    await app.runDueJobs();
    for (const [index, seconds] of [1, 5, 4, 16].entries()) {
      if (index === 2) {
        await restart();
      }
      await app.advanceTime(seconds * 1_000 - 1);
      expect(graph.sent()).toHaveLength(index + 1);
      await app.advanceTime(1);
      expect(graph.sent()).toHaveLength(index + 2);
    }
  });
});
