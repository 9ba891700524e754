/** Metrics: who may scrape them, that they count correctly, and that no client can add series. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { openTelemetry } from "../src/adapters/telemetry/index.ts";
import { metricCatalogue } from "../src/adapters/telemetry/metric-catalogue.ts";
import { version } from "../src/cli/version.ts";
import { retryDelaysMs } from "../src/platform/automation/webhooks/schedule.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { callTool } from "./support/mcp-tool.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const token = "a-token-of-the-operator";
const to = "+14155550123";

const send = { to, type: "text", text: { body: "Hello" } } as const;

test("without the setting the route does not exist", async () => {
  await using app = await startTestApp();
  const absent = await app.fetch("/metrics", { headers: { authorization: `Bearer ${token}` } });
  expect([absent.status, await codeOf(absent)]).toEqual([404, "route_not_found"]);
});

test("only the operator's token is accepted, and guesses are limited", async () => {
  await using app = await startTestApp({
    env: { TIDINGS_METRICS_TOKEN: token, TIDINGS_RATE_LIMIT: "20", TIDINGS_RATE_BURST: "20" },
  });
  const request = (headers: Record<string, string>, key: string | null = null) =>
    app.fetch("/metrics", { key, headers });
  const none = await request({});
  expect([none.status, await codeOf(none)]).toEqual([401, "credential_missing"]);
  // An API key is not accepted here.
  expect((await app.fetch("/metrics")).status).toBe(401);
  const wrong = await request({ authorization: `Bearer ${token}x` });
  expect([wrong.status, await codeOf(wrong)]).toEqual([401, "credential_invalid"]);
  const right = await request({ authorization: `Bearer ${token}` });
  expect([right.status, right.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const guesses = await Promise.all(
    Array.from({ length: 40 }, () => request({ authorization: `Bearer ${randomUUID()}` })),
  );
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(24);
});

test("requests, tool calls, jobs and messages are counted", async () => {
  await using app = await startAppWithMetrics();
  for (let times = 0; times < 3; times += 1) {
    await app.call(contacts.list_contacts, {});
  }
  await app.fetch("/v1/contacts/con_none");
  await app.call(messages.send_message, send);
  await callTool(app, "send_message", { to, body: "Hello again" });
  await callTool(app, "get_contact", { id: "con_none" });
  await app.advanceTime(60_000);
  const metrics = await scrape(app);

  const count = (name: string, labels: string) => metrics.get(`tidings_${name}{${labels}}`);
  expect(count("http_requests_total", 'operation="list_contacts",method="GET",status="2xx"')).toBe(3);
  expect(count("http_request_duration_seconds_count", 'operation="list_contacts"')).toBe(3);
  expect(count("http_request_duration_seconds_sum", 'operation="list_contacts"')).toBeGreaterThan(0);
  // One request over REST, one by the tool.
  expect(count("http_requests_total", 'operation="get_contact",method="GET",status="4xx"')).toBe(2);
  expect(count("http_requests_total", 'operation="send_message",method="POST",status="2xx"')).toBe(2);
  expect(count("http_requests_total", 'operation="/mcp",method="POST",status="2xx"')).toBe(2);
  expect(count("mcp_tool_calls_total", 'tool="send_message",outcome="done"')).toBe(1);
  expect(count("mcp_tool_calls_total", 'tool="get_contact",outcome="failed"')).toBe(1);
  expect(count("job_attempts_total", 'name="message.deliver",outcome="done"')).toBe(2);
  expect(count("job_duration_seconds_count", 'name="message.deliver"')).toBe(2);
  expect(count("job_wait_seconds_count", 'name="message.deliver"')).toBe(2);
  expect(count("channel_sends_total", 'channel="simulator",outcome="accepted"')).toBe(2);
  for (const state of ["queued", "sent", "delivered"]) {
    expect([state, count("messages_total", `state="${state}"`)]).toEqual([state, 2]);
  }
  expect(metrics.get("tidings_database_up")).toBe(1);
  expect(count("database_connections", 'what="waiting"')).toBe(0);
  expect(metrics.get("nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
  expect(metrics.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
});

test("a request whose client closes the connection first is counted and logged", async () => {
  const lines: object[] = [];
  const log = {
    ...silentLog,
    debug: (facts: object, message: string) => void lines.push({ ...facts, message }),
  };
  await using app = await startTestApp({ env: { TIDINGS_METRICS_TOKEN: token }, log });
  const socket = connect(Number(new URL(app.address).port), "127.0.0.1");
  const wait = "/v1/messages/wait?timeout_seconds=55";
  socket.write(`GET ${wait} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${ownerKey}\r\n\r\n`, () =>
    socket.destroy(),
  );
  const counted = 'tidings_http_requests_total{operation="wait_for_message",method="GET",status="4xx"}';
  await expect.poll(async () => (await scrape(app)).get(counted)).toBe(1);
  expect(lines).toContainEqual(
    expect.objectContaining({
      message: "the connection was closed before the answer",
      route: "/v1/messages/wait",
      status: 499,
    }),
  );
});

test("statements and round trips of the database are counted, those of transactions included", async () => {
  await using app = await startAppWithMetrics();
  const { database } = app.server;
  const before = database.pool();
  await database.transaction(async (tx) => {
    await sql`select ${1}::int`.execute(tx);
    await sql`select 2`.execute(tx);
  });
  const after = database.pool();
  // With the statements that begin and end the transaction; BEGIN is sent with the first of the others.
  expect([after.statements - before.statements, after.waits - before.waits]).toEqual([4, 3]);
  const metrics = await scrape(app);
  const { statements, waits } = database.pool();
  expect(statements).toBeGreaterThan(after.statements);
  expect(metrics.get("tidings_database_statements_total")).toBe(statements);
  expect(metrics.get("tidings_database_waits_total")).toBe(waits);
});

test("waiting and dead-letter jobs are counted in the database; jobs of suspended organizations are not due", async () => {
  await using app = await startAppWithMetrics();
  const { queries } = app.server.database;
  await app.runDueJobs();
  const add = (lane: string, secondsAgo: number) =>
    sql`insert into jobs (id, name, lane, payload, run_at, created_at)
      values (${randomUUID()}, 'message.deliver', ${lane}, 'null',
        ${new Date(app.now().getTime() - secondsAgo * 1000).toISOString()}, ${app.now().toISOString()})
    `.execute(queries);
  await Promise.all([
    add("channel:one", 90),
    add("channel:two", 30),
    add("channel:two", -3_600),
    add("~channel:one", 600),
  ]);
  // The trigger of organizations maintains this table.
  await sql`insert into suspended_organizations (organization_id) values ('org_suspended')`.execute(queries);
  await sql`insert into jobs (id, name, lane, organization_id, payload, run_at, created_at)
    values ('suspended', 'message.deliver', 'channel:three', 'org_suspended', 'null',
      ${new Date(app.now().getTime() - 900_000).toISOString()}, ${app.now().toISOString()})`.execute(queries);
  await sql`insert into dead_jobs (id, name, lane, payload, attempts, error, created_at, died_at)
    values ('dead', 'message.deliver', 'channel:one', 'null', 12, 'It broke.', now(), now())`.execute(
    queries,
  );
  const metrics = await scrape(app);
  expect(metrics.get('tidings_jobs_waiting{group="channel",priority="normal",when="due"}')).toBe(2);
  expect(metrics.get('tidings_jobs_waiting{group="channel",priority="normal",when="later"}')).toBe(2);
  expect(metrics.get('tidings_jobs_oldest_due_seconds{group="channel",priority="normal"}')).toBe(90);
  expect(metrics.get('tidings_jobs_waiting{group="channel",priority="bulk",when="due"}')).toBe(1);
  expect(metrics.get('tidings_jobs_oldest_due_seconds{group="channel",priority="bulk"}')).toBe(600);
  expect(metrics.get('tidings_jobs_dead{name="message.deliver"}')).toBe(1);
});

test("while the database is away, the values that are read from it are missing", async () => {
  const lane = { group: "channel", isBulk: false, due: 2, later: 3, oldestSeconds: 90 };
  const gauges = vi
    .fn()
    .mockResolvedValueOnce({ lanes: [lane], deadLetters: [{ name: "message.deliver", count: 1 }] })
    .mockRejectedValueOnce(new Error("There is no connection."));
  const telemetry = await openTelemetry({ isScraped: true, collector: undefined, version: "1" });
  const pool = { inUse: 0, waiting: 0, statements: 0, waits: 0 };
  const read = telemetry.scrape?.({ gauges, pool: () => pool, machineAheadMs: () => undefined });
  const shared = /^tidings_(?:database_up|jobs_\w+)(?:\{.*\})? .*$/gm;
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  expect((await read?.())?.match(shared)).toEqual([
    'tidings_jobs_waiting{group="channel",priority="normal",when="due"} 2',
    'tidings_jobs_waiting{group="channel",priority="normal",when="later"} 3',
    'tidings_jobs_oldest_due_seconds{group="channel",priority="normal"} 90',
    'tidings_jobs_dead{name="message.deliver"} 1',
    "tidings_database_up 1",
  ]);
  // What was read is used for 5 seconds.
  clock.mockReturnValue(6_000);
  expect((await read?.())?.match(shared)).toEqual(["tidings_database_up 0"]);
});

test("a webhook delivery that is not tried again is counted once as failed", async () => {
  await using app = await startTestApp({
    env: { TIDINGS_METRICS_TOKEN: token, TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
  });
  await using receiver = await startWebhookReceiver();
  const { data } = await app.call(webhooks.create_webhook, {
    url: receiver.url,
    events: ["message.received"],
  });
  receiver.secret = data.signing_secret;
  receiver.respond = () => ({ status: 500 });
  await openPhone(app, "+14155550141").write("Hello");
  await app.runDueJobs();
  const failures = "tidings_webhook_deliveries_failed_total";
  const first = await scrape(app);
  expect([first.get(failures), first.get('tidings_webhook_deliveries_total{outcome="refused"}')]).toEqual([
    0, 1,
  ]);
  for (const waitMs of retryDelaysMs) {
    await app.advanceTime(waitMs * 1.21);
  }
  const last = await scrape(app);
  expect([last.get(failures), last.get('tidings_webhook_deliveries_total{outcome="refused"}')]).toEqual([
    1, 10,
  ]);
});

test("the metrics are those of the catalogue, and the version is one of them", async () => {
  await using app = await startAppWithMetrics();
  const response = await app.fetch("/metrics", { headers: { authorization: `Bearer ${token}` } });
  const types = [...(await response.text()).matchAll(/^# TYPE (tidings_\w+) (\w+)$/gm)];
  expect(types.map(([, name, kind]) => [name, kind]).sort()).toEqual(
    Object.entries(metricCatalogue)
      .map(([name, { kind }]) => [`tidings_${name}`, kind])
      .sort(),
  );
  expect((await scrape(app)).get(`tidings_build_info{version="${version}"}`)).toBe(1);
});

test("no request adds a series, and no label contains an id, a number or an organization", async () => {
  await using app = await startAppWithMetrics();
  let number = 1_000;
  const sendVariedRequests = async () => {
    const id = randomUUID();
    number += 1;
    await app.fetch(`/v1/contacts/${id}`);
    await app.fetch(`/${id}`);
    await app.fetch(`/v1/${id}/x?${id}`, { method: "PROPFIND" });
    await app.fetch(`/v1/contacts/${id}`, { method: "PATCH", json: {} });
    await app.fetch("/v1/contacts", { key: `sk_live_${id}` });
    await callTool(app, `tool_${id.slice(0, 8)}`, {});
    await callTool(app, "send_message", { to: `+1415555${number}`, body: id });
    await app.runDueJobs();
  };
  await sendVariedRequests();
  // Only the second scrape counts the first; its database figures may be those of the first.
  await scrape(app);
  const before = [...(await scrape(app)).keys()].filter((name) => name.startsWith("tidings_"));
  for (let times = 0; times < 10; times += 1) {
    await sendVariedRequests();
  }
  const after = [...(await scrape(app)).keys()].filter((name) => name.startsWith("tidings_"));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
  expect(after.filter((name) => /\b(?:con|org|msg|conv|inb)_|\+1415|tool_[\da-f]{8}/.test(name))).toEqual([]);
});

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

function startAppWithMetrics(): Promise<TestApp> {
  return startTestApp({ env: { TIDINGS_METRICS_TOKEN: token } });
}

/** Returns the value of each series. Every line must be a comment or a series. */
async function scrape(app: TestApp): Promise<Map<string, number>> {
  const response = await app.fetch("/metrics", { headers: { authorization: `Bearer ${token}` } });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  return new Map(
    lines.flatMap((line): [string, number][] => {
      if (/^# (?:HELP|TYPE) \w+ \S/.test(line)) {
        return [];
      }
      const [, series, value] = /^(\w+(?:\{(?:\w+="[^"]*",?)+\})?) (\S+)$/.exec(line) ?? [];
      // The library writes Nan, which Prometheus accepts, for a mean without samples.
      expect(value, line).toMatch(/^(?:-?\d[\d.e+-]*|\+Inf|Nan)$/);
      return [[String(series), Number(value)]];
    }),
  );
}
