/**
 * Erasure: after it, no column of any table holds the contact's number or a text that came
 * from or to the contact.
 */
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { newJob } from "../src/jobs/job.ts";
import { defineJob } from "../src/platform/foundation/kernel/index.ts";
import { implement } from "../src/platform/foundation/kernel/module.ts";
import { modules } from "../src/platform/index.ts";
import { chatbot } from "../tools/chatbot.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf, Operation, OutputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import type { Event } from "../tools/events.ts";
import { imports } from "../tools/imports.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { routing } from "../tools/routing.ts";
import { uploads } from "../tools/uploads.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { findColumns } from "./support/find-columns.ts";
import { plantBroadcasts } from "./support/plant-broadcasts.ts";
import { plantFlows } from "./support/plant-flows.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createTeamWithMembers } from "./support/teams.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";
import { listWritingOperations } from "./support/writing-operations.ts";

const failingJob = defineJob<Event<"message.received">>({
  name: "failing.refuse",
  payload: z.custom<Event<"message.received">>(),
  async run({ data }) {
    throw new Error(`Refused: ${data.text?.body} from ${data.from}`);
  },
});

/** Fails with the text of an inbound message, so that its job reaches the dead-letter queue. */
const failing = implement(
  {},
  {
    operations: {},
    jobs: [failingJob],
    recordEvents: async (_, emissions) =>
      emissions.flatMap(({ event }) =>
        event.type === "message.received" && "conversation_id" in event.data
          ? newJob(failingJob, event as Event<"message.received">, { subject: event.data.conversation_id })
          : [],
      ),
  },
);

const app = useTestApp({
  enabledModules: { ...modules, failing },
  env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
});

const hour = 3_600_000;
const called = new Set<string>();
let keys = 0;

const routeOf = ({ method, path }: Operation) => `${method} ${path}`;

/** Calls with an idempotency key, so that every response is stored. */
async function call<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
  called.add(routeOf(operation));
  keys += 1;
  return app.call(operation, input, { idempotencyKey: `key ${keys}` });
}

/** Every text of this person contains the marker, except the number. */
const number = "+14155550124";
const marker = "zq7marker";
const marked = (text: string) => `${text} ${marker}`;
const personal = [number, number.slice(1), marker];

/**
 * Plants the marker through every operation and every inbound content; returns the contact
 * and the conversation.
 */
async function plant() {
  const phone = openPhone(app, number);
  const { data: contact } = await call(contacts.create_contact, {
    phone_number: number,
    name: marked("Ada"),
    metadata: { [marked("key")]: marked("value"), nested: { [marked("inner")]: [marked("deep")] } },
  });
  const { id } = contact;
  await call(contacts.upsert_contact, { phone_number: number, name: marked("Ada Lovelace") });
  await call(contacts.update_contact, { id, metadata: { note: marked("note") } });
  await call(contacts.tag_contact, { id, add: [marked("vip")] });
  const query = { attribute: "phone_number", operator: "eq", value: number };
  await call(cohorts.tag_contacts, { query, add: [marked("many")] });

  const identity = {
    user_id: `US.${marker}`,
    username: `${marker}ada`,
    wa_id: number.slice(1),
    name: marked("Countess"),
  };
  const { conversation_id } = await phone.write(marked("hello"), identity);
  await inbound({
    media: {
      type: "image",
      url: `https://example.com/${marker}`,
      caption: marked("photo"),
      file_name: marker,
    },
  });
  await inbound({ reply: { id: marker, title: marked("yes") } });
  const quoted = { channel_message_id: "quoted" };
  await phone.write(marked("first"), quoted);
  await inbound({ edit: { message_id: "quoted", text: marked("second") } });
  await inbound({ reaction: { message_id: "quoted", emoji: marker } });
  await app.runDueJobs();

  await send({ type: "text", text: { body: marked("answer") } });
  await send({
    type: "image",
    media_url: `https://example.com/${marker}.png`,
    caption: marked("look"),
    file_name: `${marker}.png`,
  });
  await send({
    type: "interactive",
    interactive: { body: marked("choose"), buttons: [{ id: marker, title: marker }] },
  });
  await setFaults(app, { failures: [{ code: 131026, to: number }] });
  await send({ type: "text", text: { body: marked("fails") } });
  await app.advanceTime(1000);
  await setFaults(app, {});

  await call(notes.add_note, { conversation_id, text: marked("asked twice") });
  await call(conversations.update_conversation, { id: conversation_id, add_tags: [marked("urgent")] });
  await call(conversations.update_conversation, {
    id: conversation_id,
    status: "snoozed",
    snoozed_until: new Date(app.now().getTime() + 30 * 24 * hour).toISOString(),
  });
  return { id, conversation_id, phone };
}

async function inbound(content: object): Promise<void> {
  await app.fetch("/simulator/inbound", { method: "POST", json: { from: number, ...content } });
}

function send(content: Omit<InputOf<typeof messages.send_message>, "to">) {
  return call(messages.send_message, { to: number, ...content });
}

/** A question whose stored answer repeats nothing; the turn keeps the question. */
async function askChatbot(conversation_id: string): Promise<void> {
  const graph_definition = { nodes: [{ id: "main", type: "llm" }] };
  await call(chatbot.configure_chatbot, { graph_definition });
  await call(chatbot.chat_with_bot, { conversation_id, message: marked("Do you deliver?") });
}

/**
 * Agents who are assigned with a reason, and a policy whose explanations quote the skills that
 * a conversation needs.
 */
async function assignWithReasons(conversation_id: string): Promise<void> {
  const { id: team_id, users } = await createTeamWithMembers(app, {}, { Ben: {}, Cleo: {} });
  await call(routing.create_routing_policy, {
    name: "Everyone",
    strategy: "skills_based",
    target_type: "team",
    target_id: team_id,
    conditions: {},
    settings: { relax_after_seconds: 60 },
    is_active: true,
  });
  const [ben = "", cleo = ""] = Object.values(users);
  const id = conversation_id;
  await call(conversations.assign_conversation, { id, assigned_to: ben, reason: marked("she asked") });
  await call(conversations.transfer_conversation, {
    id,
    from_agent: ben,
    to_agent: cleo,
    reason: marked("shift"),
  });
  await call(conversations.unassign_conversation, { id, reason: marked("later") });
  await call(conversations.update_conversation, { id, add_tags: [`skill:${marker}`] });
  await openPhone(app, number).write(marked("who is there?"));
}

async function importRow(): Promise<void> {
  const csv = `phone,name,tags,${marked("column")}\n${number},${marked("Łucja")},${marked("imported")},${marked("cell")}\n`;
  const content_base64 = Buffer.from(csv).toString("base64");
  const { data } = await call(uploads.upload_file, { file_name: "people.csv", content_base64 });
  await call(imports.import_contacts, { upload_id: data.id });
  await app.runDueJobs();
}

async function addToCohort(): Promise<void> {
  const csv = `phone,name\n${number},${marked("Ada")}\n${number.slice(2)},${marked("Ada")}\n`;
  const content_base64 = Buffer.from(csv).toString("base64");
  const { data } = await call(uploads.upload_file, { file_name: "people.csv", content_base64 });
  await call(cohorts.create_cohort, { name: "File", type: "csv", query: {}, upload_id: data.id });
  await app.runDueJobs();
}

describe("after an erasure", () => {
  afterEach(() => setFaults(app, {}));

  test("no column of any table holds the number or a text of the contact, whichever operation wrote it", async () => {
    await using receiver = await startWebhookReceiver();
    const { data: webhook } = await app.call(webhooks.create_webhook, {
      url: receiver.url,
      events: webhookEvents,
    });
    receiver.secret = webhook.signing_secret;
    // A receiver that fails and repeats what it received: the log of its deliveries has it too.
    receiver.respond = ({ body }) => ({ status: 500, body });
    const { id, conversation_id, phone } = await plant();
    await assignWithReasons(conversation_id);
    await plantFlows({ app, call, number, marked }, conversation_id);
    await askChatbot(conversation_id);
    await importRow();
    await addToCohort();
    await phone.write(marked("stop"));
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await app.advanceTime(12 * hour);
    }
    await plantBroadcasts({ app, call, number, marked });
    // Not yet sent, and not yet delivered to the receiver.
    await send({ type: "text", text: { body: marked("queued") } });
    await phone.write(marked("last"));
    const { data: listed } = await call(messages.list_messages, { conversation_id });
    const last = listed.find(({ text }) => text?.body === marked("last"));
    await call(messages.react_to_message, { conversation_id, message_id: last?.id ?? "", emoji: "👍" });

    // A search stores the words of the messages.
    await call(messages.search_messages, { query: marker });
    await keepOriginal(last?.id ?? "");
    const planted = await findColumns(app.server.database.queries, personal);
    expect(planted).toEqual(expect.arrayContaining([...plantedColumns]));
    const received = receiver.received.length;
    await call(contacts.delete_contact, { id });
    await app.runDueJobs();
    expect(await findColumns(app.server.database.queries, personal)).toEqual([]);
    // What was waiting was sent neither to the phone nor to the receiver.
    expect(receiver.received.length).toBe(received);
    expect((await phone.listMessages()).filter(({ text }) => text?.body === marked("queued"))).toEqual([]);
    await app.advanceTime(24 * hour);
    expect(await findColumns(app.server.database.queries, personal)).toEqual([]);
    expect(await app.server.database.queries.selectFrom("erasures").selectAll().execute()).toEqual([]);
    expect(listWritingOperations().filter(([, operation]) => !called.has(routeOf(operation)))).toEqual([]);
  });

  test("the reason for which a contact was blocked is deleted", async () => {
    const { data } = await call(contacts.create_contact, { phone_number: "+14155550128" });
    const { id } = data;
    await call(contacts.update_contact, { id, blocked: true, blocked_reason: marked("Insulted Ben") });
    const planted = await findColumns(app.server.database.queries, [marker]);
    expect(planted).toEqual(expect.arrayContaining(["contacts.blocked_reason", "idempotency.body"]));
    await call(contacts.delete_contact, { id });
    await app.runDueJobs();
    expect(await findColumns(app.server.database.queries, [marker])).toEqual([]);
  });

  test("a response that was stored during another erasure is erased with its own contact", async () => {
    const { data: other } = await call(contacts.create_contact, { phone_number: "+14155550129" });
    await call(contacts.delete_contact, { id: other.id });
    const fields = { phone_number: "+14155550130", name: marked("Ida") };
    const { data } = await call(contacts.create_contact, fields);
    await call(contacts.delete_contact, { id: data.id });
    await app.runDueJobs();
    expect(await findColumns(app.server.database.queries, [marker])).toEqual([]);
  });

  test("a repeated request is answered with contact_not_found, before and after the job has run", async () => {
    const create = () =>
      app.call(
        contacts.create_contact,
        { phone_number: "+14155550126", name: "Eve" },
        { idempotencyKey: "erased" },
      );
    const { id } = (await create()).data;
    const erase = () => app.call(contacts.delete_contact, { id }, { idempotencyKey: "erase" });
    const erased = await erase();
    expect(await expectFailure(create())).toMatchObject({ status: 404, code: "contact_not_found" });
    await app.runDueJobs();
    expect(await expectFailure(create())).toMatchObject({ status: 404, code: "contact_not_found" });
    // The erasure itself is repeated with its own response.
    expect(await erase()).toEqual(erased);
  });

  test("the events of the contact are hidden before the job has run", async () => {
    const { meta: start } = await app.call(webhooks.list_events, {});
    const { conversation_id } = await openPhone(app, "+14155550127").write("hello");
    const list = async () => (await app.call(webhooks.list_events, { after: start.cursor })).data;
    expect(await list()).toHaveLength(1);
    const { contact_id } = (await app.call(conversations.get_conversation, { id: conversation_id })).data;
    await app.call(contacts.delete_contact, { id: contact_id });
    expect(await list()).toEqual([]);
  });
});

/** As a process of the version before does for a message of an unknown type. */
async function keepOriginal(message: string): Promise<void> {
  await sql`
    insert into message_originals (organization_id, message_id, original, received_at)
    select organization_id, id, jsonb_build_object('text', ${marker}::text), created_at
    from messages where id = ${message}
  `.execute(app.server.database.queries);
}

/** Where the test must have planted something, so that it proves something. */
const plantedColumns = [
  "assignments.reason",
  "broadcast_recipients.to",
  "broadcast_recipients.variables",
  "contact_identities.value",
  "contacts.bsuid",
  "contacts.metadata",
  "contacts.name",
  "contacts.normalized",
  "contacts.phone_number",
  "contacts.search_text",
  "contacts.tags",
  "contacts.username",
  "conversation_notes.text",
  "conversations.tags",
  "dead_jobs.error",
  "dead_jobs.payload",
  "events.body",
  "flow_runs.variables",
  "idempotency.body",
  "jobs.payload",
  "message_originals.original",
  "message_words.words",
  "messages.content",
  "messages.from",
  "messages.reactions",
  "messages.to",
  "routing_decisions.explanation",
  "webhook_deliveries.attempts",
];
