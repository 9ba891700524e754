/** What Meta reports of a number: its limits, whether it can send, and alerts. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import {
  createWhatsAppInbox,
  credentials,
  deliver,
  type GraphApi,
  graphError,
  messagesChange,
  openWindow,
  startGraphApi,
  startWhatsAppApp,
  whatsAppNumber,
} from "./support/whatsapp.ts";

const person = "+14155550123";
const hourMs = 3_600_000;

let graph: GraphApi;
let working: GraphApi["routes"];
let app: TestApp;
let inbox: Awaited<ReturnType<typeof createWhatsAppInbox>>;
let cursor: string;
const warnings: unknown[] = [];

beforeAll(async () => {
  graph = await startGraphApi();
  working = { ...graph.routes };
  const log = { debug() {}, info() {}, warn: (entry: unknown) => warnings.push(entry), error() {} };
  ({ app, inbox } = await startWhatsAppApp(graph, { log, env: { TIDINGS_WALLET: "off" } }));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await graph[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const route of Object.keys(graph.routes)) {
    delete graph.routes[route];
  }
  Object.assign(graph.routes, working);
  await sql`update inboxes set limits = null, health = null`.execute(app.server.database.queries);
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: {} });
  await app.advanceTime(10 * 60_000);
  await openWindow(app, inbox);
  cursor = (await app.call(webhooks.list_events, {})).meta.cursor;
  warnings.length = 0;
});

async function write(): Promise<void> {
  const text = { body: "hello" };
  await app.call(messages.send_message, { to: person, type: "text", text, inbox_id: inbox.id });
}

const reportNumber = (fields: object) => {
  graph.routes[`GET ${credentials.phone_number_id}`] = () => ({ body: { id: "1", ...fields } });
};
const tier = (name: string) => ({ whatsapp_business_manager_messaging_limit: name });
const limits = async () =>
  (await app.call(inboxes.list_inboxes, {})).data.find(({ id }) => id === inbox.id)?.limits;
const rate = async () => {
  const { queries } = app.server.database;
  const lanes = queries.selectFrom("paced_lanes").select("rate_per_second");
  return (await lanes.where("lane", "like", `%${inbox.id}`).executeTakeFirst())?.rate_per_second;
};

describe("the limits of a number", () => {
  test("are null until Meta says them, and are read every day", async () => {
    expect(await limits()).toBeNull();
    reportNumber({ ...tier("TIER_2K"), quality_rating: "YELLOW", throughput: { level: "STANDARD" } });
    await app.advanceTime(25 * hourMs);
    expect(await limits()).toEqual({ messaging_limit: 2000, quality: "yellow", messages_per_second: 80 });
  });

  test("are read with the credentials", async () => {
    reportNumber({ ...tier("TIER_250"), quality_rating: "GREEN", throughput: { level: "HIGH" } });
    const { data } = await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
    const expected = { messaging_limit: 250, quality: "green", messages_per_second: 1000 };
    expect(data.limits).toEqual(expected);
    await using own = await startTestApp({ env: graph.env });
    expect((await createWhatsAppInbox(own)).limits).toEqual(expected);
  });

  test.each([
    [{ ...tier("TIER_10K"), quality_rating: "RED" }, 10_000, "red", null],
    [{ ...tier("TIER_UNLIMITED"), quality_rating: "UNKNOWN" }, null, null, null],
    [{ ...tier("TIER_NOT_SET"), throughput: { level: "NOT_APPLICABLE" } }, null, null, null],
    [{ whatsapp_business_manager_messaging_limit: 7, throughput: "HIGH" }, null, null, null],
  ])("as %j are read when Meta reports a change", async (fields, messaging_limit, quality, perSecond) => {
    reportNumber(fields);
    const value = { max_daily_conversations_per_business: "TIER_250" };
    await deliver(app, inbox, { field: "business_capability_update", value });
    expect(await limits()).toEqual({ messaging_limit, quality, messages_per_second: perSecond });
  });

  test("set the rate of its messages, unless the inbox does", async () => {
    expect(await rate()).toBe(80);
    reportNumber({ throughput: { level: "HIGH" } });
    const value = { event: "THROUGHPUT_UPGRADE", current_limit: "TIER_UNLIMITED" };
    await deliver(app, inbox, { field: "phone_number_quality_update", value });
    expect(await rate()).toBe(1000);
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: { messages_per_second: 20 } });
    expect(await rate()).toBe(20);
    await deliver(app, inbox, { field: "phone_number_quality_update", value });
    expect(await rate()).toBe(20);
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: {} });
    expect(await rate()).toBe(1000);
  });

  test("are not stored if the inbox got another number before Meta answered", async () => {
    const other = { ...credentials, phone_number_id: "777" };
    graph.routes["GET phone_numbers"] = () => ({
      body: { data: [{ id: other.phone_number_id, display_phone_number: whatsAppNumber }] },
    });
    graph.routes["GET 777"] = () => ({ body: { id: "1", ...tier("TIER_1K") } });
    const read = `GET ${credentials.phone_number_id}`;
    graph.routes[read] = async () => {
      delete graph.routes[read];
      await app.call(inboxes.update_inbox, { id: inbox.id, credentials: other });
      return { body: { id: "1", ...tier("TIER_250"), throughput: { level: "HIGH" } } };
    };
    await deliver(app, inbox, { field: "business_capability_update", value: {} });
    expect(await limits()).toMatchObject({ messaging_limit: 1000 });
    expect(await rate()).toBe(80);
    Object.assign(graph.routes, working);
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
  });

  test("stay as they are when Meta rejects the request", async () => {
    reportNumber(tier("TIER_250"));
    await app.advanceTime(25 * hourMs);
    graph.routes[`GET ${credentials.phone_number_id}`] = () => graphError(190);
    await app.advanceTime(25 * hourMs);
    expect(await limits()).toMatchObject({ messaging_limit: 250 });
  });
});

describe("the event of an inbox's health", () => {
  const seen = async () => {
    const { data: events } = await app.call(webhooks.list_events, { after: cursor, types: "inbox.health" });
    return events.flatMap(({ type, data }) => (type === "inbox.health" ? [data] : []));
  };
  const stopped = { inbox_id: "", status: "stopped", code: 190, reason: "(#190) Title" };
  const ok = { inbox_id: "", status: "ok", code: null, reason: null };

  test("is sent once when it stops and once when a message is accepted again", async () => {
    const accept = graph.routes["POST messages"];
    graph.routes["POST messages"] = () => graphError(190);
    await write();
    await app.runDueJobs();
    await app.advanceTime(11 * 60_000);
    expect(await seen()).toEqual([{ ...stopped, inbox_id: inbox.id }]);
    graph.routes["POST messages"] = accept ?? (() => "hang");
    await app.advanceTime(5 * 60_000);
    expect(await seen()).toEqual([
      { ...stopped, inbox_id: inbox.id },
      { ...ok, inbox_id: inbox.id },
    ]);
  });

  test("is sent when new credentials end the stop", async () => {
    graph.routes["POST messages"] = () => graphError(190);
    await write();
    await app.runDueJobs();
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
    expect((await seen()).map(({ status }) => status)).toEqual(["stopped", "ok"]);
  });

  test("is sent once for reports that arrive together", async () => {
    const ban = (state: string) => ({
      field: "account_update",
      value: { event: "DISABLED_UPDATE", ban_info: { waba_ban_state: state } },
    });
    await Promise.all(Array.from({ length: 6 }, () => deliver(app, inbox, ban("DISABLE"))));
    await Promise.all(Array.from({ length: 6 }, () => deliver(app, inbox, ban("REINSTATE"))));
    expect((await seen()).map(({ status }) => status)).toEqual(["stopped", "ok"]);
  });
});

describe("a notice of an account", () => {
  const alert = async () =>
    (await app.call(inboxes.list_inboxes, {})).data.find(({ id }) => id === inbox.id)?.alert;

  test("is shown by its inbox and reported by an event, once; the log has its type alone", async () => {
    const { meta: start } = await app.call(webhooks.list_events, {});
    const notice = { alert_type: "OBA_REJECTED", alert_description: "Your request was rejected" };
    const change = { field: "account_alerts", value: notice };
    await deliver(app, inbox, change);
    await deliver(app, inbox, change, { field: "security", value: { event: "PIN_CHANGED", requester: "1" } });
    const { data } = await app.call(webhooks.list_events, { after: start.cursor, types: "inbox.alert" });
    expect(data.map(({ data: body }) => body)).toMatchObject([
      { inbox_id: inbox.id, type: "OBA_REJECTED", title: notice.alert_description },
      { inbox_id: inbox.id, type: "PIN_CHANGED", advice: expect.stringContaining("WhatsApp Manager") },
    ]);
    expect(await alert()).toMatchObject({ type: "PIN_CHANGED", reported_at: expect.any(String) });
    const logged = warnings.filter((entry) => JSON.stringify(entry).includes('"field"'));
    const of = { organization_id: inbox.organization_id, inbox_id: inbox.id };
    expect(logged).toEqual([
      { ...of, field: "account_alerts", type: "OBA_REJECTED" },
      { ...of, field: "security", type: "PIN_CHANGED" },
    ]);
  });

  test.each([
    [
      { event: "ACCOUNT_RESTRICTION", restriction_info: [{ restriction_type: "RESTRICTED_ADD_PHONE" }] },
      "ok",
    ],
    [{ event: "ACCOUNT_VIOLATION", violation_info: { violation_type: "SPAM" } }, "ok"],
    [{ event: "DISABLED_UPDATE", ban_info: { waba_ban_state: "SCHEDULE_FOR_DISABLE" } }, "ok"],
    [{ event: "PARTNER_REMOVED" }, "stopped"],
    [{ event: "ACCOUNT_DELETED" }, "stopped"],
  ])("%j: the health is then %s", async (value, status) => {
    await deliver(app, inbox, { field: "account_update", value });
    expect(await alert()).toMatchObject({ title: expect.stringMatching(/^Meta|^The/) });
    const { data } = await app.call(inboxes.list_inboxes, {});
    expect(data.find(({ id }) => id === inbox.id)?.health.status).toBe(status);
    const reinstated = { event: "DISABLED_UPDATE", ban_info: { waba_ban_state: "REINSTATE" } };
    await deliver(app, inbox, { field: "account_update", value: reinstated });
  });

  test("says that a display name was rejected, and errors of the number itself", async () => {
    const name = {
      decision: "REJECTED",
      requested_verified_name: "Best Shop",
      rejection_reason: "ENDORSEMENT",
    };
    await deliver(app, inbox, { field: "phone_number_name_update", value: name });
    expect((await alert())?.title).toBe('Meta has rejected the display name "Best Shop": ENDORSEMENT');
    await deliver(app, inbox, messagesChange({ errors: [{ code: 130429, title: "Rate limit hit" }] }));
    expect(await alert()).toMatchObject({ type: "error_130429", title: "Rate limit hit" });
  });
});

describe("the messaging limit of a business", () => {
  let helpers: ReturnType<typeof createBroadcastHelpers>;
  beforeAll(() => {
    helpers = createBroadcastHelpers(app);
  });
  let area = 300;
  const other = { phone_number: "+16315555556", credentials: { ...credentials, phone_number_id: "2" } };

  async function prepare(people: number, from = inbox.id) {
    area += 1;
    const { cohort } = await helpers.createCohort(phoneNumbers(people, area));
    const approved: object[] = [];
    graph.routes["GET message_templates"] = () => ({ body: { data: approved } });
    graph.routes["POST message_templates"] = ({ body }) => {
      const id = `7${area}`;
      approved.push({ ...(body as object), id, status: "APPROVED" });
      return { body: { id, status: "PENDING", category: "UTILITY" } };
    };
    const content = { name: `sale_${area}`, language: "en", template_data: { body: "Hello." } };
    const created = await app.call(templates.create_template, {
      ...content,
      category: "utility",
      inbox_id: from,
    });
    await app.call(templates.submit_template, { id: created.data.id });
    await deliver(app, inbox, {
      field: "message_template_status_update",
      value: { message_template_name: content.name },
    });
    return helpers.create({ name: `Sale ${area}`, cohort_id: cohort.id, template_id: created.data.id });
  }

  const setLimit = async (name: string) => {
    reportNumber(tier(name));
    await deliver(app, inbox, { field: "business_capability_update", value: {} });
  };

  async function run(id: string): Promise<number> {
    await helpers.execute(id);
    await helpers.deliver();
    return (await helpers.get(id)).stats.sent;
  }

  const estimate = async (id: string) => (await app.call(broadcasts.estimate_broadcast, { id })).data;

  beforeEach(async () => {
    await app.advanceTime(25 * hourMs);
    await openWindow(app, inbox);
  });

  test("is counted in people, whom a broadcast exceeds only when others leave the last 24 hours", async () => {
    await setLimit("TIER_4");
    const { id } = await prepare(6);
    expect(await estimate(id)).toMatchObject({ recipient_count: 6, waiting: 2, duration_seconds: 86_400 });
    expect(await run(id)).toBe(4);
    await app.advanceTime(23 * hourMs);
    expect((await helpers.get(id)).stats.sent).toBe(4);
    await app.advanceTime(hourMs + 60_000);
    await helpers.deliver();
    expect(await helpers.get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6 } });
  });

  test("does not count people who had just written, nor a second template to one person", async () => {
    const first = await prepare(2);
    expect(await run(first.id)).toBe(2);
    const { name, language } = (await app.call(templates.get_template, { id: first.template_id })).data;
    const send = (to: string) => {
      const template = { name, language };
      return app.call(messages.send_message, { to, type: "template", template, inbox_id: inbox.id });
    };
    await send(phoneNumbers(1, area)[0] ?? "");
    await app.advanceTime(1_000);
    await send(person);
    await setLimit("TIER_5");
    const second = await prepare(4);
    expect(await estimate(second.id)).toMatchObject({ waiting: 1 });
    expect(await run(second.id)).toBe(3);
  });

  test("counts all inboxes of the account, and the smaller one of two limits holds", async () => {
    graph.routes["GET phone_numbers"] = () => ({
      body: {
        data: [
          { id: credentials.phone_number_id, display_phone_number: whatsAppNumber },
          { id: "2", display_phone_number: other.phone_number },
        ],
      },
    });
    const sibling = await createWhatsAppInbox(app, other);
    const first = await prepare(3, sibling.id);
    expect(await run(first.id)).toBe(3);
    await setLimit("TIER_5");
    const second = await prepare(4);
    expect(await estimate(second.id)).toMatchObject({ waiting: 2 });
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: { daily_limit: 1 } });
    expect(await estimate(second.id)).toMatchObject({ waiting: 3, duration_seconds: 3 * 86_400 });
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: { daily_limit: 3 } });
    expect(await run(second.id)).toBe(2);
  });
});
