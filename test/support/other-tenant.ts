/**
 * Another organization in the same app, created by the operator, with one of each resource, none of which
 * the first may reach.
 */
import { sql } from "kysely";
import { apiKeys } from "../../tools/api-keys.ts";
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { cohorts } from "../../tools/cohorts/index.ts";
import { flows } from "../../tools/flows/index.ts";
import { imports } from "../../tools/imports.ts";
import { inboxes } from "../../tools/inboxes.ts";
import { knowledgeBase } from "../../tools/knowledge-base/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { plans } from "../../tools/plans.ts";
import { quickReplies } from "../../tools/quick-replies.ts";
import { routing } from "../../tools/routing.ts";
import { templates } from "../../tools/templates/index.ts";
import { uploads } from "../../tools/uploads.ts";
import { webhooks } from "../../tools/webhooks.ts";
import type { TestApp } from "./app.ts";
import { openBrowser } from "./console.ts";
import { createOrganizationFor } from "./operator.ts";
import { openPhone } from "./simulator.ts";
import { createTeamWithMembers } from "./teams.ts";

export interface OtherTenant {
  readonly key: string;
  readonly organization_id: string;
  readonly contact_id: string;
  readonly conversation_id: string;
  readonly message_id: string;
  readonly api_key_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly upload_id: string;
  readonly import_id: string;
  readonly user_id: string;
  readonly inbox_id: string;
  readonly quick_reply_id: string;
  readonly team_id: string;
  readonly member_id: string;
  readonly policy_id: string;
  readonly template_id: string;
  readonly cohort_id: string;
  readonly broadcast_id: string;
  readonly flow_id: string;
  readonly run_id: string;
  readonly document_id: string;
  readonly qa_pair_id: string;
  readonly plan_id: string;
  readonly console_session_id: string;
}

export async function createOtherTenant(app: TestApp): Promise<OtherTenant> {
  const { id: organization, key, email, password } = await createOrganizationFor(app, "Other");
  const input = { to: "+14155550198", type: "text", text: { body: "private" } } as const;
  const { data: message } = await app.call(messages.send_message, input, { key });
  const { data: apiKey } = await app.call(
    apiKeys.create_api_key,
    { name: "theirs", scopes: ["contacts:read"] },
    { key },
  );
  const webhook = await createHeldDelivery(app, key);
  const content_base64 = Buffer.from("phone\n+14155550199\n").toString("base64");
  const file = { content_base64, file_name: "theirs.csv" };
  const { data: upload } = await app.call(uploads.upload_file, file, { key });
  const { data: job } = await app.call(imports.import_contacts, { upload_id: upload.id }, { key });
  const { data: inboxList } = await app.call(inboxes.list_inboxes, {}, { key });
  const { data: quickReply } = await app.call(
    quickReplies.create_quick_reply,
    { short_code: "private", content: "private" },
    { key },
  );
  const contact = await app.server.database.queries
    .selectFrom("contacts")
    .select("id")
    .where("organization_id", "=", organization)
    .executeTakeFirstOrThrow();
  const team = await createTeamWithMembers(app, { name: "Theirs" }, { Member: {} }, { key, organization });
  const { data: policy } = await app.call(
    routing.create_routing_policy,
    { name: "theirs", strategy: "round_robin", target_type: "team", target_id: team.id },
    { key },
  );
  const { data: template } = await app.call(
    templates.create_template,
    { name: "private", category: "utility", template_data: { body: "private" } },
    { key },
  );
  const { data: cohort } = await app.call(cohorts.create_cohort, { name: "theirs", query: {} }, { key });
  const call = { operation: "create_contact", input: { phone_number: "+14155550197" } };
  const { data: plan } = await app.call(plans.plan_call, call, { key });
  return {
    key,
    organization_id: organization,
    contact_id: contact.id,
    conversation_id: message.conversation_id,
    message_id: message.id,
    api_key_id: apiKey.id,
    ...webhook,
    upload_id: upload.id,
    import_id: job.id,
    user_id: team.users.Member ?? "",
    inbox_id: inboxList[0]?.id ?? "",
    quick_reply_id: quickReply.id,
    team_id: team.id,
    member_id: team.members.Member ?? "",
    policy_id: policy.id,
    template_id: template.id,
    cohort_id: cohort.id,
    broadcast_id: await createBroadcast(app, cohort.id, key),
    ...(await createRun(app, message.conversation_id, key)),
    ...(await createKnowledge(app, key)),
    plan_id: plan.id,
    console_session_id: (await openBrowser(app).signIn(email, password)).session_id,
  };
}

async function createKnowledge(app: TestApp, key: string) {
  const source = { name: "theirs", source_type: "markdown", content: "private" } as const;
  const { data: document } = await app.call(knowledgeBase.add_document, source, { key });
  const pair = { question: "private", answer: "private" };
  const { data: added } = await app.call(knowledgeBase.add_qa_pair, pair, { key });
  return { document_id: document.id, qa_pair_id: added.id };
}

/** Creates a flow whose run waits. */
async function createRun(app: TestApp, conversation_id: string, key: string) {
  const trigger = { trigger_type: "keyword", trigger_keyword: "private", end_action_type: "none" } as const;
  const nodes = [{ id: "wait", node_type: "wait", action_config: { duration: "30d" } } as const];
  const { data: flow } = await app.call(flows.create_flow, { name: "theirs", ...trigger, nodes }, { key });
  const { data: run } = await app.call(flows.trigger_flow, { id: flow.id, conversation_id }, { key });
  await app.runDueJobs();
  return { flow_id: flow.id, run_id: run.run_id };
}

/** Creates a draft, for which a template is approved. */
async function createBroadcast(app: TestApp, cohort_id: string, key: string): Promise<string> {
  const template = { name: "approved", category: "utility", template_data: { body: "private" } } as const;
  const { data } = await app.call(templates.create_template, template, { key });
  await app.call(templates.submit_template, { id: data.id }, { key });
  await app.advanceTime(1_000);
  const input = { name: "theirs", cohort_id, template_id: data.id };
  return (await app.call(broadcasts.create_broadcast, input, { key })).data.id;
}

/** Creates an inactive webhook, so that nothing is sent, with one held delivery. */
async function createHeldDelivery(app: TestApp, key: string) {
  const input = { url: "https://hooks.example.com/", events: ["message.received" as const] };
  const { data: webhook } = await app.call(webhooks.create_webhook, input, { key });
  const id = webhook.id;
  await app.call(webhooks.update_webhook, { id, is_active: false }, { key });
  await openPhone(app, "+14155550198", key).write("private");
  const { data } = await app.call(webhooks.list_webhook_deliveries, { id }, { key });
  return { webhook_id: id, delivery_id: data[0]?.id ?? "" };
}

/** Every row of a tenant, by table: all tables that have an organization_id. */
export async function readTenantRows(
  { server: { database } }: TestApp,
  organization: string,
): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'organization_id' order by 1
  `.execute(database.queries);
  const rowsOf = ({ name }: { readonly name: string }) => sql`
    select ${name}::text as name, jsonb_agg(to_jsonb(t) order by t::text) as rows
    from ${sql.table(name)} t where organization_id = (select id from tenant)`;
  // One statement: there are sixty tables, and a hundred tests read them twice.
  const { rows } = await sql<{ name: string; rows: unknown[] | null }>`
    with tenant (id) as (values (${organization}::text)) ${sql.join(tables.map(rowsOf), sql` union all `)}
  `.execute(database.queries);
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows ?? []]));
}
