/** The figures: who may scrape them, that they count right, and that no client can make more of them. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { type House, openHouse } from "./support/house.ts";
import { callTool } from "./support/mcp-tool.ts";

const token = "a-token-of-the-operator";
const to = "+14155550123";

const send = { to, type: "text", text: { body: "Hello" } } as const;

test("without the setting there is no such route", async () => {
  await using house = await openHouse();
  const absent = await house.fetch("/metrics", { headers: { authorization: `Bearer ${token}` } });
  expect([absent.status, await codeOf(absent)]).toEqual([404, "route_not_found"]);
});

test("only the operator's token opens them, and guesses are bounded", async () => {
  await using house = await openHouse({
    env: { TIDINGS_METRICS_TOKEN: token, TIDINGS_RATE_LIMIT: "20", TIDINGS_RATE_BURST: "20" },
  });
  const ask = (headers: Record<string, string>, key: string | null = null) =>
    house.fetch("/metrics", { key, headers });
  const none = await ask({});
  expect([none.status, await codeOf(none)]).toEqual([401, "credential_missing"]);
  // An API key of the house is none here, wherever it stands.
  expect((await house.fetch("/metrics")).status).toBe(401);
  const wrong = await ask({ authorization: `Bearer ${token}x` });
  expect([wrong.status, await codeOf(wrong)]).toEqual([401, "credential_invalid"]);
  const right = await ask({ authorization: `Bearer ${token}` });
  expect([right.status, right.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const guesses = await Promise.all(
    Array.from({ length: 40 }, () => ask({ authorization: `Bearer ${randomUUID()}` })),
  );
  expect(guesses.some(({ status }) => status === 429)).toBe(true);
});

test("what was done is what is counted", async () => {
  await using house = await watchedHouse();
  for (let times = 0; times < 3; times += 1) {
    await house.call(contacts.list_contacts, {});
  }
  await house.fetch("/v1/contacts/con_nobody");
  await house.call(messages.send_message, send);
  await callTool(house, "send_message", { to, body: "Hello again" });
  await callTool(house, "get_contact", { id: "con_nobody" });
  await house.turn(60_000);
  const figures = await scrape(house);

  const count = (name: string, labels: string) => figures.get(`tidings_${name}{${labels}}`);
  expect(count("http_requests_total", 'operation="list_contacts",method="GET",status="2xx"')).toBe(3);
  expect(count("http_request_duration_seconds_count", 'operation="list_contacts"')).toBe(3);
  // By REST, and by the tool.
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
  expect(figures.get("tidings_database_up")).toBe(1);
  expect(count("database_connections", 'what="waiting"')).toBe(0);
  expect(figures.get("nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
  expect(figures.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
});

test("waiting and dead jobs are read from the database", async () => {
  await using house = await watchedHouse();
  const { queries } = house.app.database;
  await house.settle();
  const add = (lane: string, secondsAgo: number) =>
    sql`insert into jobs (id, name, lane, payload, run_at, created_at)
      values (${randomUUID()}, 'message.deliver', ${lane}, 'null',
        ${new Date(house.now().getTime() - secondsAgo * 1000).toISOString()}, ${house.now().toISOString()})
    `.execute(queries);
  await Promise.all([add("channel:one", 90), add("channel:two", 30), add("channel:two", -3_600)]);
  await sql`insert into dead_jobs (id, name, lane, payload, attempts, error, created_at, died_at)
    values ('dead', 'message.deliver', 'channel:one', 'null', 12, 'It broke.', now(), now())`.execute(
    queries,
  );
  const figures = await scrape(house);
  expect(figures.get('tidings_jobs_waiting{group="channel",when="due"}')).toBe(2);
  expect(figures.get('tidings_jobs_waiting{group="channel",when="later"}')).toBe(1);
  expect(figures.get('tidings_jobs_oldest_due_seconds{group="channel"}')).toBe(90);
  expect(figures.get('tidings_jobs_dead{name="message.deliver"}')).toBe(1);
});

test("no client makes new series, and none holds an id, a number or an organization", async () => {
  await using house = await watchedHouse();
  const wander = async () => {
    const id = randomUUID();
    await house.fetch(`/v1/contacts/${id}`);
    await house.fetch(`/${id}`);
    await house.fetch(`/v1/${id}/x?${id}`, { method: "PROPFIND" });
    await house.fetch(`/v1/contacts/${id}`, { method: "PATCH", json: {} });
    await house.fetch("/v1/contacts", { key: `sk_live_${id}` });
    await callTool(house, `tool_${id.slice(0, 8)}`, {});
    await callTool(house, "send_message", {
      to: `+1415555${Math.floor(1000 + Math.random() * 9000)}`,
      body: id,
    });
    await house.settle();
  };
  await wander();
  // The second scrape shows the first; what it tells of the database may be that of the first.
  await scrape(house);
  const before = [...(await scrape(house)).keys()].filter((name) => name.startsWith("tidings_"));
  for (let times = 0; times < 10; times += 1) {
    await wander();
  }
  const after = [...(await scrape(house)).keys()].filter((name) => name.startsWith("tidings_"));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
  expect(after.filter((name) => /\b(?:con|org|msg|conv|inb)_|\+1415|tool_[\da-f]{8}/.test(name))).toEqual([]);
});

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

function watchedHouse(): Promise<House> {
  return openHouse({ env: { TIDINGS_METRICS_TOKEN: token } });
}

/** Every line is a comment or a series with its value. */
async function scrape(house: House): Promise<Map<string, number>> {
  const response = await house.fetch("/metrics", { headers: { authorization: `Bearer ${token}` } });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  return new Map(
    lines.flatMap((line): [string, number][] => {
      if (/^# (?:HELP|TYPE) \w+ \S/.test(line)) {
        return [];
      }
      const [, series, value] = /^(\w+(?:\{(?:\w+="[^"]*",?)+\})?) (\S+)$/.exec(line) ?? [];
      // The library writes Nan for the mean of no lags at all, in a spelling that Prometheus reads.
      expect(value, line).toMatch(/^(?:-?\d[\d.e+-]*|\+Inf|Nan)$/);
      return [[String(series), Number(value)]];
    }),
  );
}
