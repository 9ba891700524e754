/**
 * A person's message ends the flows and the bot of a conversation, and looks for them only where one may be.
 *
 * @module-tag both
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrations } from "../src/database/migrations/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";

// The jobs of an hour run between the tests, not while one counts.
const app = useTestApp({ startsAt: new Date("2026-06-01T10:00:00Z") });
const { create, runsOf } = createFlowHelpers(app);

let numbers = 0;
const nextNumber = () => `+1415558${String(++numbers).padStart(4, "0")}`;

/** Asks, and says thanks for the answer. */
const question = [
  {
    id: "ask",
    node_type: "ask",
    action_config: { text: "Well?", timeout: "1h", save_as: "answer" },
  } as const,
  { ...say("Thanks", "thanks"), parent_node_id: "ask" },
];

async function answer(to: string): Promise<void> {
  await app.call(messages.send_message, { to, type: "text", text: { body: "A person." } });
}

async function countStatements(work: () => Promise<void>): Promise<number> {
  const { statements } = app.server.database.pool();
  await work();
  return app.server.database.pool().statements - statements;
}

test("flows and the bot cost two statements, and only the first message after one has begun", async () => {
  await create(question, { trigger_keyword: "count" });
  const number = nextNumber();
  const phone = openPhone(app, number);
  await phone.write("Hello");
  await answer(number);
  const usual = await countStatements(() => answer(number));
  await phone.write("count");
  await app.runDueJobs();
  expect(await countStatements(() => answer(number))).toBe(usual + 2);
  expect(await countStatements(() => answer(number))).toBe(usual);
});

test("a flow that begins after a person's message is ended by the next one", async () => {
  await create(question, { trigger_keyword: "again" });
  const number = nextNumber();
  const phone = openPhone(app, number);
  const { conversation_id } = await phone.write("again");
  await app.runDueJobs();
  await answer(number);
  await phone.write("again");
  await app.runDueJobs();
  await answer(number);
  await phone.write("Yes");
  await app.advanceTime(1_000);
  expect(textsOf(await phone.listMessages())).toEqual(["Well?", "A person.", "Well?", "A person."]);
  expect(await runsOf(conversation_id)).toMatchObject([
    { status: "cancelled", reason: "person_replied" },
    { status: "cancelled", reason: "person_replied" },
  ]);
});

test("a flow and a bot that a process of the previous version starts are ended", async () => {
  const { queries } = app.server.database;
  const flow = await create(question, { trigger_keyword: "previous" });
  const phone = openPhone(app, nextNumber());
  await phone.write("previous");
  await app.runDueJobs();
  const number = nextNumber();
  const { conversation_id } = await openPhone(app, number).write("Hello");
  await answer(number);
  // Its statements know nothing of the column.
  await sql`
    insert into flow_runs (organization_id, id, flow_id, version, is_interactive, conversation_id, contact_id, trigger_type,
      status, pending, variables, steps, wait, due_at, episode, created_at)
    select run.organization_id, 'run_of_previous', run.flow_id, run.version, is_interactive, conversations.id,
      conversations.contact_id, trigger_type, run.status, pending, variables, steps, wait, due_at, episode, run.created_at
    from flow_runs as run
    join conversations on conversations.organization_id = run.organization_id and conversations.id = ${conversation_id}
    where run.flow_id = ${flow.id}
  `.execute(queries);
  await sql`
    insert into chatbot_conversations (organization_id, conversation_id, contact_id, state, started_by, since)
    select organization_id, id, contact_id, 'active', 'flow', created_at from conversations where id = ${conversation_id}
  `.execute(queries);
  await answer(number);
  expect(await runsOf(conversation_id)).toMatchObject([{ status: "cancelled", reason: "person_replied" }]);
  const { rows } = await sql`
    select state, ended_reason from chatbot_conversations where conversation_id = ${conversation_id}
  `.execute(queries);
  expect(rows).toEqual([{ state: "ended", ended_reason: "person_replied" }]);
});

test("a flow that waits during the migration is ended", async () => {
  const { database } = app.server;
  await create(question, { trigger_keyword: "migrated" });
  const number = nextNumber();
  const { conversation_id } = await openPhone(app, number).write("migrated");
  await app.runDueJobs();
  await sql`
    drop function mark_automated_conversation cascade
  `.execute(database.queries);
  await sql`alter table conversations drop column may_be_automated`.execute(database.queries);
  // This migration alone: later ones have run already.
  await migrations["0041-automated-conversations"]?.up(database.queries);
  await answer(number);
  expect(await runsOf(conversation_id)).toMatchObject([{ status: "cancelled", reason: "person_replied" }]);
});
