/** `check_inbox`: the channel's answer about the account of an inbox, and how each failure is explained. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { defaults } from "../emulator/index.ts";
import { activity } from "../tools/activity.ts";
import { inboxes } from "../tools/inboxes.ts";
import type { TestApp } from "./support/app.ts";
import {
  credentials,
  type GraphApi,
  graphError,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

/** The inboxes without the time of their latest webhook, which the emulator sends at any time. */
async function readStored(app: TestApp) {
  const { data } = await app.call(inboxes.list_inboxes, {});
  return data.map(({ last_webhook_at: _at, ...inbox }) => inbox);
}

const check = async (app: TestApp, id: string) => (await app.call(inboxes.check_inbox, { id })).data;

describe("at the emulator of WhatsApp", () => {
  const whatsApp = useEmulatedWhatsApp();
  const setNumber = (phone_number_id: string) =>
    sql`update inbox_accounts set phone_number_id = ${phone_number_id}`.execute(
      whatsApp().app.server.database.queries,
    );

  test("an account that works has its limits, and nothing is stored", async () => {
    const { app, inbox, control } = whatsApp();
    await control("POST", `/phone-numbers/${defaults.phone_number_id}`, { messaging_limit: "TIER_2K" });
    const before = await readStored(app);
    expect(await check(app, inbox.id)).toEqual({
      inbox_id: inbox.id,
      ok: true,
      checked_at: app.now().toISOString(),
      latency_ms: expect.any(Number),
      limits: { messaging_limit: 2_000, quality: "green", messages_per_second: 80 },
      problem: null,
    });
    expect(await readStored(app)).toEqual(before);
  });

  test("an id that does not exist, and one of another number, are named", async () => {
    const { app, inbox, control } = whatsApp();
    await setNumber("999999999999999");
    expect(await check(app, inbox.id)).toMatchObject({
      ok: false,
      limits: null,
      problem: {
        code: "credentials_rejected",
        field: "credentials.phone_number_id",
        message:
          "The channel does not accept the credentials: the access token can't read a phone number with this id.",
        fix: expect.stringContaining("update_inbox"),
      },
    });
    const other = await control("POST", "/phone-numbers", { phone_number: "14155550177" });
    await setNumber(other.phone_number_id);
    expect((await check(app, inbox.id)).problem?.message).toContain(
      `this id is of the number +14155550177, and the inbox has ${inbox.phone_number}.`,
    );
    await setNumber(defaults.phone_number_id);
  });

  test("a token that has ended is named", async () => {
    const { app, inbox, control } = whatsApp();
    await control("POST", "/tokens/expire", { access_token: defaults.access_token });
    expect((await check(app, inbox.id)).problem).toMatchObject({
      code: "credentials_rejected",
      field: "credentials.access_token",
      message: expect.stringContaining("the token is wrong, has expired or was revoked."),
    });
  });
});

describe("at a scripted API", () => {
  const route = `GET ${credentials.phone_number_id}`;
  const warnings: unknown[] = [];
  const log = { debug() {}, info() {}, warn: (entry: unknown) => warnings.push(entry), error() {} };
  let graph: GraphApi;
  let app: TestApp;
  let id: string;
  beforeAll(async () => {
    graph = await startGraphApi();
    const started = await startWhatsAppApp(graph, { log });
    ({ app } = started);
    id = started.inbox.id;
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    await graph[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    warnings.length = 0;
    graph.requests.length = 0;
  });

  test("one request is sent, which reads the number", async () => {
    graph.routes[route] = () => ({ body: { display_phone_number: "+1 631-555-5555" } });
    expect(await check(app, id)).toMatchObject({ ok: true, problem: null });
    expect(graph.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /v26.0/${credentials.phone_number_id}?fields=display_phone_number,whatsapp_business_manager_messaging_limit,quality_rating,throughput`,
    ]);
    expect(graph.requests[0]?.headers.authorization).toBe(`Bearer ${credentials.access_token}`);
  });

  test.each([
    [
      "a missing permission",
      graphError(200),
      "credentials_rejected",
      "credentials.access_token",
      "whatsapp_business_management",
    ],
    ["a blocked account", graphError(368), "account_rejected", null, "(#368) Title."],
    ["a limit of requests", graphError(4), "channel_unreachable", null, "(#4) Title."],
    ["a gateway's error page", { status: 502, body: "<html>" }, "channel_unreachable", null, "status 502."],
    ["a broken connection", "break", "channel_unreachable", null, "The connection to WhatsApp broke."],
    [
      "an answer of another form",
      { body: { display_phone_number: 7 } },
      "channel_unreachable",
      null,
      "The request to the channel failed; the log of the service says why.",
    ],
  ] as const)("%s is explained", async (name, answer, code, field, text) => {
    graph.routes[route] = () => answer;
    const { ok, limits, problem } = await check(app, id);
    expect({ ok, limits, code: problem?.code, field: problem?.field }).toEqual({
      ok: false,
      limits: null,
      code,
      field,
    });
    expect(problem?.message.endsWith(text) || problem?.message.includes(`${text}.`)).toBe(true);
    expect(warnings).toHaveLength(name === "an answer of another form" ? 1 : 0);
  });

  test("an API that does not answer is given up after 5 seconds", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    graph.routes[route] = () => {
      const [passTimeLimit] = timers.mock.calls.findLast(([, ms]) => ms === 5_000) ?? [];
      passTimeLimit?.();
      return "hang";
    };
    const { problem } = await check(app, id);
    timers.mockRestore();
    expect(problem).toMatchObject({
      code: "channel_unreachable",
      field: null,
      message: "The channel did not answer within 5 seconds.",
    });
  });

  test("credentials that can't be read any more are named", async () => {
    const { queries } = app.server.database;
    const { secrets } = await queries
      .selectFrom("inbox_accounts")
      .select("secrets")
      .executeTakeFirstOrThrow();
    await sql`update inbox_accounts set secrets = 'lost'`.execute(queries);
    expect((await check(app, id)).problem).toMatchObject({ field: "credentials" });
    await queries.updateTable("inbox_accounts").set({ secrets }).execute();
    expect(graph.requests).toEqual([]);
  });

  test("the simulated channel is always fine", async () => {
    const { data } = await app.call(inboxes.list_inboxes, {});
    const simulated = data.find(({ channel }) => channel === "simulator") ?? expect.fail("no inbox");
    expect(await check(app, simulated.id)).toMatchObject({ ok: true, limits: null, problem: null });
  });

  test("a check by a tool is in the record of acts", async () => {
    const answer = await app.fetch("/v1/mcp/tools/call", {
      method: "POST",
      json: { name: "check_inbox", arguments: { id } },
    });
    expect(answer.status).toBe(200);
    const { data } = await app.call(activity.list_activity, { operation: "check_inbox" });
    expect(data).toMatchObject([{ operation: "check_inbox", outcome: "done" }]);
  });
});
