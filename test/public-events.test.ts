/**
 * Every public event: something makes it happen, `GET /v1/events` lists it, and a webhook gets it. A type
 * without a case does not compile.
 */
import { describe, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { type PublicEventName, publicEvents } from "../tools/events.ts";
import { flows } from "../tools/flows/index.ts";
import { imports } from "../tools/imports.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { organization } from "../tools/organization.ts";
import { plans } from "../tools/plans.ts";
import { templates } from "../tools/templates/index.ts";
import { uploads } from "../tools/uploads.ts";
import { users } from "../tools/users.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { createTenant } from "./support/operator.ts";
import { createPaymentHelpers } from "./support/payments.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { createUserKey, createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";
import {
  credentials,
  deliver,
  type GraphApi,
  graphError,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";

const [minute, hour] = [60_000, 3_600_000];
const number = "+14155550761";

let app: TestApp;
let graph: GraphApi;
let inbox: Inbox;
useWhatsApp((started) => ({ app, graph, inbox } = started), {
  env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true", ...trustedProxyEnv },
});

type WhatsAppEvent = "message.reaction" | "message.edited" | "inbox.health" | "inbox.alert";

/** Each makes its event happen once, in an organization that is its own. */
const causes: Record<Exclude<PublicEventName, WhatsAppEvent>, (tenant: TestApp) => Promise<unknown>> = {
  "message.received": (tenant) => openPhone(tenant, number).write("Hello"),
  "message.sent": send,
  "message.delivered": send,
  async "message.read"(tenant) {
    await send(tenant);
    await openPhone(tenant, number).read();
  },
  async "message.failed"(tenant) {
    await setFaults(tenant, { failures: [{ code: 131026, share: 1 }] });
    await send(tenant);
  },
  async "note.created"(tenant) {
    const conversation_id = await begin(tenant);
    await tenant.call(notes.add_note, { conversation_id, text: "Wants an invoice" });
  },
  async "wallet.low_balance"(tenant) {
    await tenant.call(organization.update_organization, { low_balance_threshold: 10 });
    await tenant.advanceTime(61_000);
  },
  "broadcast.started": startBroadcast,
  async "broadcast.paused"(tenant) {
    await tenant.call(broadcasts.pause_broadcast, await startBroadcast(tenant));
  },
  async "broadcast.completed"(tenant) {
    await startBroadcast(tenant);
    await createBroadcastHelpers(tenant).deliver();
  },
  async "broadcast.cancelled"(tenant) {
    await tenant.call(broadcasts.cancel_broadcast, await startBroadcast(tenant));
  },
  async "broadcast.not_started"(tenant) {
    const scheduled_at = new Date(tenant.now().getTime() + hour).toISOString();
    await createBroadcast(tenant, { scheduled_at });
    await tenant.server.database.queries
      .updateTable("jobs")
      .set({ run_at: new Date(tenant.now().getTime() + 3 * hour).toISOString() })
      .where("name", "=", "broadcast.start")
      .execute();
    await tenant.advanceTime(3 * hour + 1_000);
  },
  async "flow.disabled"(tenant) {
    const { id, email } = await createUserWithRole(tenant, "admin");
    const { access_token } = await signIn(tenant, email);
    const key = await createUserKey(tenant, ["inbox:write", "contacts:manage"], access_token);
    const nodes = [{ id: "tag", node_type: "add_tag", action_config: { tag: "lead" } } as const];
    const flow = { name: "Flow", end_action_type: "none", trigger_type: "keyword" } as const;
    await tenant.call(flows.create_flow, { ...flow, trigger_keyword: "hi", nodes }, { key });
    await tenant.call(users.update_user, { id, role: "agent" });
    await tenant.runDueJobs();
  },
  async "flow.run_failed"(tenant) {
    const { data } = await tenant.call(inboxes.list_inboxes, {});
    const settings = { service_window: "strict" } as const;
    await tenant.call(inboxes.update_inbox, { id: data[0]?.id ?? "", settings });
    const conversation_id = await begin(tenant);
    await tenant.advanceTime(25 * hour);
    const { id } = await createFlowHelpers(tenant).create([say("The window is closed")]);
    await tenant.call(flows.trigger_flow, { id, conversation_id });
    await tenant.runDueJobs();
  },
  "conversation.created": (tenant) => openPhone(tenant, number).write("Hello"),
  async "conversation.opened"(tenant) {
    const id = await begin(tenant);
    await tenant.call(conversations.update_conversation, { id, status: "closed" });
    await openPhone(tenant, number).write("Hello again");
  },
  "conversation.assigned": assign,
  async "conversation.unassigned"(tenant) {
    await tenant.call(conversations.unassign_conversation, { id: await assign(tenant) });
  },
  async "conversation.closed"(tenant) {
    const id = await begin(tenant);
    await tenant.call(conversations.update_conversation, { id, status: "closed" });
  },
  async "conversation.updated"(tenant) {
    const id = await begin(tenant);
    await tenant.call(conversations.update_conversation, { id, add_tags: ["vip"] });
    await tenant.call(conversations.update_conversation, { id, add_tags: ["vip"] });
  },
  "contact.created": (tenant) => openPhone(tenant, number).write("Hello", { name: "Ada" }),
  async "contact.tag_added"(tenant) {
    const { data } = await tenant.call(contacts.create_contact, { phone_number: number });
    await tenant.call(contacts.tag_contact, { id: data.id, add: ["vip"] });
    await tenant.call(contacts.tag_contact, { id: data.id, add: ["vip"], remove: ["old"] });
  },
  async "contact.updated"(tenant) {
    const { data } = await tenant.call(contacts.create_contact, { phone_number: number });
    await tenant.call(contacts.update_contact, { id: data.id, opted_out: true });
  },
  async "template.status_changed"(tenant) {
    const { id } = await createTemplateHelpers(tenant).create({ name: "greeting" });
    await tenant.call(templates.submit_template, { id });
  },
  "import.started": (tenant) => importFile(tenant, `phone,name\n${number},Ada\n`),
  "import.completed": (tenant) => importFile(tenant, `phone,name\n${number},Ada\n`),
  "import.failed": (tenant) => importFile(tenant, "name\nAda\n"),
  "payment.captured": pay,
  async "payment.failed"(tenant) {
    const shop = createPaymentHelpers(tenant);
    await shop.pay((await shop.order(20)).order_id, { outcome: "failed" });
    await tenant.advanceTime(3 * minute);
  },
  "plan.awaiting": holdBack,
  async "plan.released"(tenant) {
    await decide(tenant, "approve");
  },
  async "plan.declined"(tenant) {
    await decide(tenant, "decline");
  },
  async "plan.run"(tenant) {
    await runPlan(tenant, "create_contact", { phone_number: number });
  },
  async "plan.failed"(tenant) {
    const shop = createPaymentHelpers(tenant);
    const checkout = await shop.pay((await shop.order(20)).order_id, { outcome: "failed" });
    await expectFailure(runPlan(tenant, "verify_payment", checkout));
  },
  async "plan.expired"(tenant) {
    await tenant.call(plans.plan_call, { operation: "create_contact", input: { phone_number: number } });
    await tenant.advanceTime(24 * hour + 5 * minute);
  },
  async "payment.refunded"(tenant) {
    const { refund, order_id } = await pay(tenant);
    await refund(order_id, { amount_minor: 250 });
    await tenant.advanceTime(2 * hour);
  },
};

/** As `causes`, on WhatsApp in the first organization. */
const whatsAppCauses: Record<WhatsAppEvent, () => Promise<unknown>> = {
  "message.reaction": () => reportAbout("reaction", (message_id) => ({ message_id, emoji: "👍" })),
  "message.edited": () =>
    reportAbout("edit", (original_message_id) => ({
      original_message_id,
      message: { type: "text", text: { body: "Hello!" } },
    })),
  async "inbox.health"() {
    await openWindow(app, inbox);
    graph.routes["POST messages"] = () => graphError(190, {}, { status: 401 });
    await sendText(app, inbox);
  },
  "inbox.alert": () => deliver(app, inbox, { field: "security", value: { event: "PIN_CHANGED" } }),
};

async function send(tenant: TestApp) {
  const text = { body: "Hello" };
  await tenant.call(messages.send_message, { to: number, type: "text", text });
  await tenant.advanceTime(5_000);
}

/** The conversation's id. */
async function begin(tenant: TestApp): Promise<string> {
  return (await openPhone(tenant, number).write("Hello")).conversation_id;
}

async function assign(tenant: TestApp): Promise<string> {
  const id = await begin(tenant);
  const { data } = await tenant.call(users.list_users, {});
  await tenant.call(conversations.assign_conversation, { id, assigned_to: data[0]?.id ?? "" });
  return id;
}

async function createBroadcast(tenant: TestApp, more: { readonly scheduled_at?: string } = {}) {
  const { approve, create, createCohort } = createBroadcastHelpers(tenant);
  const { cohort } = await createCohort([number]);
  const { id: template_id } = await approve({ name: "news", template_data: { body: "News." } });
  return create({ name: "News", cohort_id: cohort.id, template_id, ...more });
}

async function startBroadcast(tenant: TestApp) {
  const { id } = await createBroadcast(tenant);
  await createBroadcastHelpers(tenant).execute(id);
  return { id };
}

async function importFile(tenant: TestApp, csv: string) {
  const content_base64 = Buffer.from(csv).toString("base64");
  const { data } = await tenant.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  await tenant.call(imports.import_contacts, { upload_id: data.id });
  await tenant.runDueJobs();
}

async function pay(tenant: TestApp) {
  const shop = createPaymentHelpers(tenant);
  const { order_id } = await shop.order(20);
  await shop.verify(await shop.pay(order_id));
  return { ...shop, order_id };
}

/** A call of a key that needs a person. */
async function holdBack(tenant: TestApp) {
  const { createKey, send: sendBy } = createApprovalHelpers(tenant);
  const { key } = await createKey({ mode: "approve" });
  const { body } = await sendBy(number, "Hello", { key });
  return (await tenant.call(plans.get_plan, { id: body.data.plan.id })).data;
}

async function decide(tenant: TestApp, step: "approve" | "decline") {
  const helpers = createApprovalHelpers(tenant);
  const plan = await holdBack(tenant);
  const { token } = await helpers.signPerson();
  await helpers.decide(step, plan, token);
}

async function runPlan(tenant: TestApp, operation: string, input: object) {
  const { data } = await tenant.call(plans.plan_call, { operation, input: { ...input } });
  await tenant.call(plans.run_plan, { id: data.id });
}

let persons = 100;

async function reportAbout(type: "reaction" | "edit", content: (id: string) => object) {
  persons += 1;
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const message = inboundText("Hello", { from: `14155553${persons}`, timestamp });
  await deliver(app, inbox, messagesChange({ messages: [message] }));
  const report = { ...message, id: `wamid.of${persons}`, text: undefined, type, [type]: content(message.id) };
  await deliver(app, inbox, messagesChange({ messages: [report] }));
}

async function expectEvent(type: PublicEventName, tenant: TestApp, cause: () => Promise<unknown>) {
  await using receiver = await startWebhookReceiver();
  const input = { url: receiver.url, events: [type] };
  const { data: webhook } = await tenant.call(webhooks.create_webhook, input);
  receiver.secret = webhook.signing_secret;
  const { meta: start } = await tenant.call(webhooks.list_events, { types: type });
  await cause();
  await tenant.runDueJobs();
  const { data } = await tenant.call(webhooks.list_events, { after: start.cursor, types: type });
  expect(data).toMatchObject([{ type }]);
  expect(receiver.received.map(({ event }) => event)).toEqual(data);
  const [event] = data;
  expect(publicEvents[type].data.strict().parse(event?.data)).toEqual(event?.data);
  await tenant.call(webhooks.delete_webhook, { id: webhook.id });
}

describe("an event is listed, and delivered to the webhook that subscribes to it, once", () => {
  // The keys of literals.
  test.each(Object.keys(causes) as (keyof typeof causes)[])("%s", async (type) => {
    const tenant = await createTenant(app);
    await expectEvent(type, tenant, () => causes[type](tenant));
  });

  test.each(Object.keys(whatsAppCauses) as WhatsAppEvent[])("%s", async (type) => {
    await expectEvent(type, app, whatsAppCauses[type]);
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
  });
});
