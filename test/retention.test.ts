/** Retention: every table with a time column deletes its old rows, or keeps them on purpose. */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { readConfig } from "../src/config/index.ts";
import { jobsOf, modules } from "../src/platform/index.ts";
import { activity } from "../tools/activity.ts";
import { auth } from "../tools/auth.ts";
import { billing } from "../tools/billing.ts";
import { imports } from "../tools/imports.ts";
import { messages } from "../tools/messages/index.ts";
import { plans } from "../tools/plans.ts";
import { rules as organizationRules } from "../tools/rules.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { openBrowser } from "./support/console.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const rules = jobsOf(modules).flatMap(({ retention = [] }) => retention);

/** Why the rows of the other tables are kept. */
const kept: Readonly<Record<string, readonly string[]>> = {
  "what an organization has set up": [
    "organizations",
    "users",
    "api_keys",
    "rule_sets",
    "inboxes",
    "inbox_accounts",
    "teams",
    "team_members",
    "routing_policies",
    "quick_replies",
    "templates",
    "webhooks",
    "wallet_states",
    "cohorts",
    "broadcasts",
    "subscriptions",
    "chatbot_addons",
    "flows",
    "flow_window_sweeps",
    "chatbot_configs",
    "knowledge_bases",
    "knowledge_documents",
    "knowledge_qa_pairs",
  ],
  "what the operator has set up": ["message_rate_tables"],
  "until they are erased": [
    "contact_date_attributes",
    "contacts",
    "contact_identities",
    "conversations",
    "conversation_notes",
    "messages",
    "uploads",
  ],
  "for ever: the ledger": ["ledger_entries", "wallet_adjustments", "payments", "payment_orders"],
  "with the run that they belong to": ["flow_run_steps"],
  "until they end": ["jobs", "processes", "outward_calls"],
  "like messages": ["simulator_messages"],
  "with the conversation that they belong to": ["chatbot_conversations", "conversation_reads"],
  "until the next one of the person": ["presences"],
  "like templates": ["simulator_templates"],
  "like payments": ["simulator_payments", "simulator_payment_orders"],
};

const startsAt = new Date("2027-06-01T00:00:30Z");
const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];
const { retention } = readConfig({}).config;
const app = useTestApp({ startsAt, env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });

const query = (text: string) => sql.raw<{ count: number }>(text).execute(app.server.database.queries);

beforeAll(async () => {
  await using receiver = await startWebhookReceiver();
  const webhook = await app.call(webhooks.create_webhook, { url: receiver.url, events: ["message.sent"] });
  receiver.secret = webhook.data.signing_secret;
  await app.call(webhooks.list_events, { types: "contact.created" });
  await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
  await openBrowser(app).signIn(ownerEmail, ownerPassword);
  const { message_id, conversation_id } = await openPhone(app, "+14155550191").write("hi");
  await app.call(organizationRules.set_rules, { budgets: { messages: { day: 100 } } });
  await app.call(messages.send_message, {
    to: "+14155550191",
    type: "text",
    text: { body: "hello" },
  });
  await app.call(imports.import_contacts, { url: "https://example.invalid/contacts.csv" });
  const { data: plan } = await app.call(plans.plan_call, {
    operation: "create_contact",
    input: { phone_number: "+14155550192" },
  });
  await app.call(plans.withdraw_plan, { id: plan.id });
  await app.call(activity.list_read_counts, {});
  await app.call(activity.list_read_counts, {});
  await app.advanceTime(minute);
  // A delivery that still has attempts could be changed while it is deleted, and is then kept an hour more.
  expect(receiver.received).toHaveLength(1);
  const organization = "(select id from organizations)";
  await query(`
    insert into dead_jobs (id, name, lane, payload, attempts, error, created_at, died_at)
    select 'job_' || number, 'x', 'x', '{}', 1, 'x', now(), now() from generate_series(1, 12500) as number`);
  await query(`
    insert into message_originals (organization_id, message_id, original, received_at)
    select organization_id, id, '{}', now() from messages`);
  await query(`
    insert into parked_receipts (organization_id, channel_message_id, type, occurred_at, parked_at)
    select ${organization}, 'unknown', 'sent', now(), now()`);
  await query(`
    insert into payment_events (organization_id, event_id, received_at)
    select ${organization}, 'evt_1', now()`);
  await query(`
    insert into sign_in_links (organization_id, hash, user_id, session_version, created_at, expires_at)
    select organization_id, 'hash', id, session_version, now(), now() from users`);
  await query(`update imports set status = 'failed', finished_at = now()`);
  await query(`
    insert into assignments (organization_id, id, conversation_id, contact_id, assignment_type, over_capacity, created_at)
    select ${organization}, 'asg_1', '${conversation_id}', contact_id, 'manual', false, now() from conversations`);
  await query(`
    insert into flow_runs (organization_id, id, flow_id, version, conversation_id, contact_id, status, trigger_type,
      is_interactive, pending, steps, variables, episode, created_at)
    select organization_id, 'run_1', 'flow_1', 1, id, contact_id, 'completed', 'manual', false, '[]', 0, '{}', 0, now()
    from conversations limit 1`);
  await query(`
    insert into flows (organization_id, id, name, is_enabled, trigger_type, priority, version, created_at, updated_at)
    select ${organization}, 'flow_1', 'Flow', false, 'schedule', 0, 1, now(), now()`);
  await query(`
    insert into flow_firings (organization_id, id, flow_id, due_at, status, after_id, before_batch_id, started, created_at)
    select ${organization}, 'firing_1', 'flow_1', now(), 'completed', '', '', 0, now()`);
  await query(`
    insert into routing_decisions (organization_id, id, conversation_id, trigger, outcome, explanation, candidates, created_at)
    select ${organization}, 'dec_1', '${conversation_id}', 'inbound', 'queued', '', '[]', now()`);
  await app.call(billing.subscribe_chatbot_addon, { billing_unit: "per_message", cost_per_unit: 1 });
  await query(`
    insert into chatbot_units (organization_id, answer_id, addon_id, conversation_id, counted_at)
    select organization_id, 'ans_1', id, '${conversation_id}', now() from chatbot_addons`);
  await query(`
    insert into chatbot_turns (organization_id, id, conversation_id, contact_id, status, question, sources, found, created_at)
    select organization_id, 'turn_1', id, contact_id, 'answered', '', '[]', '[]', now() from conversations limit 1`);
  expect(message_id).toMatch(/^msg_/);
});

test("every table with a time column has a retention, or keeps its rows on purpose", async () => {
  const tables = await app.server.database.queries.introspection.getTables();
  const timed = tables.filter(({ columns }) => columns.some(({ dataType }) => dataType === "timestamptz"));
  const listed = [...rules.map(({ table }) => table), ...Object.values(kept).flat()];
  expect([...listed].sort()).toEqual(timed.map(({ name }) => name).sort());
});

test("rows are deleted after their time, and not before", async () => {
  const count = async () => {
    const counts = rules.map(async ({ table }) => {
      const { rows } = await query(`select count(*)::int as count from ${table}`);
      return [table, rows[0]?.count] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  };
  for (const { table, column, days } of rules) {
    const kept = typeof days === "number" ? days : retention[days];
    const at = new Date(app.now().getTime() - kept * day + 1.5 * hour).toISOString();
    await query(`update ${table} set ${column} = '${at}'`);
  }
  const before = await count();
  expect(Object.entries(before).filter(([, rows]) => rows === 0)).toEqual([]);
  await app.advanceTime(hour);
  expect(await count()).toEqual(before);
  await app.advanceTime(hour);
  expect(await count()).toEqual(Object.fromEntries(rules.map(({ table }) => [table, 0])));
});
