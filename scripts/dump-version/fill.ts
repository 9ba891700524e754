/** Fills a service with made-up data through its API, so that almost every table has rows. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ownerEmail, ownerPassword, type TestApp } from "../../test/support/app.ts";
import { openBrowser } from "../../test/support/console.ts";
import { asOperator } from "../../test/support/operator.ts";
import { createPaymentHelpers } from "../../test/support/payments.ts";
import { openPhone, setFaults } from "../../test/support/simulator.ts";
import { createTemplateHelpers, setReview } from "../../test/support/templates.ts";
import { apiKeys } from "../../tools/api-keys.ts";
import { billing } from "../../tools/billing.ts";
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { chatbot } from "../../tools/chatbot.ts";
import { cohorts } from "../../tools/cohorts/index.ts";
import { contacts } from "../../tools/contacts.ts";
import { conversations } from "../../tools/conversations.ts";
import { flows } from "../../tools/flows/index.ts";
import { imports } from "../../tools/imports.ts";
import { knowledgeBase } from "../../tools/knowledge-base/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { organization } from "../../tools/organization.ts";
import { prices } from "../../tools/prices.ts";
import { quickReplies } from "../../tools/quick-replies.ts";
import { routing } from "../../tools/routing.ts";
import { teams } from "../../tools/teams.ts";
import { templates } from "../../tools/templates/index.ts";
import { uploads } from "../../tools/uploads.ts";
import { users } from "../../tools/users.ts";
import { operatorWallet } from "../../tools/wallet.ts";

/** The customers. Their numbers are reserved for fiction. */
export const ada = "+14155550111";
export const grace = "+14155550112";
export const mary = "+14155550113";
const alan = "+14155550114";
const eve = "+14155550115";

const minute = 60_000;

export async function fill(app: TestApp): Promise<void> {
  await setUpOrganization(app);
  await addStaff(app);
  await addFiles(app);
  await addContacts(app);
  await addTemplates(app);
  await addConversations(app);
  await addBroadcasts(app);
  await addPayments(app);
  await addFlows(app);
  await addKnowledge(app);
  await openBrowser(app).signIn(ownerEmail, ownerPassword);
}

async function setUpOrganization(app: TestApp): Promise<void> {
  const rates = [{ country: "other", marketing: 0.05, utility: 0.01, authentication: 0.02 }];
  await app.call(prices.replace_message_rates, { currency: "EUR", rates }, asOperator);
  await app.call(organization.update_organization, {
    time_zone: "Europe/Berlin",
    default_country: "DE",
    currency: "EUR",
    default_language: "de",
    business_hours: {
      monday: [
        { from: "09:00", to: "12:30" },
        { from: "13:30", to: "17:00" },
      ],
      holidays: [{ date: "2026-12-25", name: "Christmas" }],
    },
  });
}

/**
 * A team whose only agent may have two conversations, the policy that routes to the team, and credentials.
 */
async function addStaff(app: TestApp): Promise<void> {
  const person = { password: "a long enough password" };
  const nora = await app.call(users.create_user, { ...person, email: "nora@example.com", name: "Nora" });
  const sam = { ...person, email: "sam@example.com", name: "Sam", role: "supervisor" } as const;
  await app.call(users.create_user, sam);
  await app.fetch("/v1/auth/login", {
    method: "POST",
    key: null,
    json: { email: ownerEmail, password: ownerPassword },
  });
  await app.call(apiKeys.create_api_key, { name: "Reports", scopes: ["contacts:read", "inbox:read"] });
  const { data: team } = await app.call(teams.create_team, {
    name: "Support",
    description: "Answers customers",
    is_active: true,
    settings: { language: "en" },
  });
  const member = { id: team.id, user_id: nora.data.id, role: "member" } as const;
  await app.call(teams.add_team_member, { ...member, skills: ["en"], max_concurrent_chats: 2 });
  await app.call(routing.create_routing_policy, {
    name: "To support",
    strategy: "weighted",
    target_type: "team",
    target_id: team.id,
    conditions: { attribute: "conversation.tags", operator: "not_contains", value: "sales" },
    settings: { weights: { [nora.data.id]: 2 }, escalate_after_seconds: 4 * 3_600 },
  });
  await app.call(quickReplies.create_quick_reply, {
    short_code: "hours",
    content: "We are open from 9 to 5.",
  });
}

/** Two imports: one succeeds, and the job of the other moves to the dead-letter queue. */
async function addFiles(app: TestApp): Promise<void> {
  await importCsv(
    app,
    "people.csv",
    "phone_number,name,tags,city\n+14155550121,Linus,vip|new,Oslo\nnone,Nobody,,",
  );
  await app.runDueJobs();
  const stored = await listFiles(app);
  await importCsv(app, "unreadable.csv", "phone_number\n+14155550122\n");
  for (const path of (await listFiles(app)).filter((file) => !stored.includes(file))) {
    // A folder in place of the file can't be read. This is an error of the service and not of the file.
    await rm(path);
    await mkdir(path);
  }
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await app.advanceTime(10 * minute);
  }
}

async function importCsv(app: TestApp, file_name: string, text: string): Promise<void> {
  const content_base64 = Buffer.from(text).toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name });
  await app.call(imports.import_contacts, { upload_id: data.id });
}

async function listFiles(app: TestApp): Promise<string[]> {
  const entries = await readdir(join(app.dataDir, "files"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Contacts with tags and attributes, and contacts that opted out, were blocked, or were erased after a
 * message.
 */
async function addContacts(app: TestApp): Promise<void> {
  const metadata = {
    plan: "premium",
    address: { city: "London", lines: ["12 St James's Square"] },
    orders: 3,
  };
  const create = async (phone_number: string, name: string, rest = {}) =>
    (await app.call(contacts.create_contact, { phone_number, name, ...rest })).data;
  const { id } = await create(ada, "Ada Lovelace", { metadata });
  await app.call(contacts.tag_contact, { id, add: ["vip", "zürich"] });
  await create(grace, "Grace Hopper");
  const optedOut = await create(alan, "Alan O'Turing");
  await app.call(contacts.update_contact, { id: optedOut.id, opted_out: true });
  const blocked = await create("+14155550116", "Mallory");
  await app.call(contacts.update_contact, { id: blocked.id, blocked: true, blocked_reason: "Sends spam" });
  const erased = await create(eve, "Eve");
  await openPhone(app, eve).write("Please delete my data.");
  await app.runDueJobs();
  await app.call(contacts.delete_contact, { id: erased.id });
}

/**
 * Templates that are a draft, pending, rejected and approved, a template that was changed after its approval,
 * and a message.
 */
async function addTemplates(app: TestApp): Promise<void> {
  const { approve, create, send: sendTemplate } = createTemplateHelpers(app);
  const submit = async (name: string, review: object) => {
    await setReview(app, review);
    const { id } = await create({ name });
    await app.call(templates.submit_template, { id });
    await app.advanceTime(1_000);
  };
  await create({ name: "draft" });
  await submit("pending", { outcome: "hold" });
  await submit("rejected", { outcome: "reject", reason: "PROMOTIONAL" });
  await setReview(app, {});
  const body = "Hello {{1}}, your order {{2}} is on its way to you.";
  await approve({ name: "shipped", template_data: { body } });
  const { id } = await approve({ name: "changed" });
  await app.call(templates.update_template, { id, template_data: { body: "Hello again." } });
  await sendTemplate(grace, { name: "shipped", language: "de", variables: { "1": "Grace", "2": "A-17" } });
  await app.advanceTime(minute);
}

/** Messages in both directions and in every final status; one conversation waits in the team's queue. */
async function addConversations(app: TestApp): Promise<void> {
  const { conversation_id: id } = await openPhone(app, ada).write("Where is my order?");
  await app.runDueJobs();
  await send(app, ada, 'It was shipped "yesterday".\nYou get it tomorrow.');
  await app.advanceTime(minute);
  await openPhone(app, ada).read();
  await app.call(conversations.update_conversation, { id, is_favorite: true, add_tags: ["orders"] });
  await send(app, grace, "Your invoice is ready.");
  await app.advanceTime(minute);
  await setFaults(app, { failures: [{ code: 131026, to: alan }] });
  await send(app, alan, "Are you still there?");
  await app.advanceTime(minute);
  await setFaults(app, {});
  await openPhone(app, grace).write("Thank you.");
  await app.runDueJobs();
  await openPhone(app, mary).write("I have a question.");
  await app.advanceTime(minute);
}

/**
 * Broadcasts that completed, one with a failure, that were paused, and that were not executed; and a wallet
 * with money.
 */
async function addBroadcasts(app: TestApp): Promise<void> {
  const { id } = (await app.call(organization.get_organization, {})).data;
  await app.call(operatorWallet.adjust_wallet, { id, amount: 20, reason: "Welcome credit" }, asOperator);
  await app.call(organization.update_organization, { low_balance_threshold: 5 });
  const query = { attribute: "phone_number", operator: "exists" };
  const { data: cohort } = await app.call(cohorts.create_cohort, { name: "Everyone", query });
  const template_data = { body: "Hello {{1}}, our new catalogue is here." };
  const template = await createTemplateHelpers(app).approve({ name: "catalogue", template_data });
  const create = async (name: string) =>
    (
      await app.call(broadcasts.create_broadcast, {
        name,
        cohort_id: cohort.id,
        template_id: template.id,
        variable_mapping: { "1": { attribute: "name", default: "there" } },
      })
    ).data.id;
  await setFaults(app, { failures: [{ code: 131026, to: mary }] });
  await app.call(broadcasts.execute_broadcast, { id: await create("Completed") });
  await app.advanceTime(minute);
  await setFaults(app, {});
  const paused = await create("Paused");
  await app.call(broadcasts.execute_broadcast, { id: paused });
  await app.call(broadcasts.pause_broadcast, { id: paused });
  await create("Draft");
  await app.advanceTime(minute);
}

/** A partly refunded payment, a failed payment, an unpaid order, and the chatbot add-on. */
async function addPayments(app: TestApp): Promise<void> {
  const { order, pay, refund, verify } = createPaymentHelpers(app);
  const { order_id } = await order(25);
  await pay(order_id, { outcome: "failed" });
  await verify(await pay(order_id));
  await refund(order_id, { amount_minor: 500, webhook: true });
  await order(10);
  const terms = { billing_unit: "per_session", cost_per_unit: 0.05, monthly_fee: 3 } as const;
  await app.call(billing.subscribe_chatbot_addon, terms);
  await app.advanceTime(minute);
}

/** A flow with an ended run and a run that waits for a reply; the flow is changed meanwhile. */
async function addFlows(app: TestApp): Promise<void> {
  const ask = { text: "Where may we send it?", save_as: "mail", validate: "email", timeout: "2h" };
  const { data: flow } = await app.call(flows.create_flow, {
    name: "Offers",
    trigger_type: "keyword",
    trigger_keyword: "offer, price",
    end_action_type: "none",
    nodes: [
      { id: "mail", node_type: "ask", action_config: ask },
      {
        id: "thanks",
        node_type: "send_message",
        parent_node_id: "mail",
        action_config: { text: "Thank you." },
      },
    ],
  });
  await openPhone(app, grace).write("What is the price?");
  await app.advanceTime(minute);
  await openPhone(app, grace).write("grace@example.com");
  await app.advanceTime(minute);
  await openPhone(app, mary).write("Send me an offer.");
  await app.advanceTime(minute);
  await app.call(flows.update_flow, { id: flow.id, description: "Asks for an e-mail address" });
}

/**
 * Documents, one of them without content, a QA pair, a chatbot that has answered, and a flow with a secret.
 */
async function addKnowledge(app: TestApp): Promise<void> {
  const content =
    "# Returns\n\nGoods can be returned within 30 days.\n\n# Delivery\n\nDelivery takes 3 days.";
  const document = { name: "Terms", source_type: "markdown" } as const;
  await app.call(knowledgeBase.add_document, { ...document, content });
  await app.call(knowledgeBase.add_document, { ...document, name: "Empty" });
  const pair = { question: "Do you sell gift cards?", answer: "Yes, from 10 euros.", tags: ["gifts"] };
  await app.call(knowledgeBase.add_qa_pair, pair);
  await app.advanceTime(minute);
  const graph_definition = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };
  await app.call(chatbot.configure_chatbot, { graph_definition });
  const { conversation_id } = await openPhone(app, grace).write("Hello");
  await app.call(chatbot.chat_with_bot, { conversation_id, message: "Do you sell gift cards?" });
  await app.call(flows.create_flow, {
    name: "Order",
    trigger_type: "event",
    trigger_event_type: "contact.tag_added",
    settings: { tag: "order" },
    end_action_type: "none",
    nodes: [
      {
        id: "call",
        node_type: "http_request",
        action_config: { url: "https://shop.example/orders", secret_headers: { Authorization: "Bearer x" } },
      },
    ],
  });
  await app.advanceTime(minute);
}

/** Returns the message, which is still queued. */
export async function send(app: TestApp, to: string, body: string) {
  return (await app.call(messages.send_message, { to, type: "text", text: { body } })).data;
}
