/**
 * Random sequences of everything that can happen to runs of flows: their states, steps, waits and
 * messages always agree.
 */
import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { CallFailure } from "../src/client/index.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows, type RunStatus } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { chain, createFlowHelpers, say } from "./support/flows.ts";
import { randomRuns } from "./support/iterations.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp({ enabledModules: modulesWithRareUpkeep("flows") });
const { create } = createFlowHelpers(app);
const [second, hour, day] = [1_000, 3_600_000, 24 * 3_600_000];

let flowIds: { form: string; loop: string; quiet: string };
beforeAll(async () => {
  const form = await create(
    [
      { id: "mail", node_type: "ask", action_config: { text: "Mail?", save_as: "mail", validate: "email" } },
      { ...say("Thanks"), parent_node_id: "mail" },
      { ...say("No answer"), parent_node_id: "mail", connection_type: "timeout" },
      { ...say("Not valid"), parent_node_id: "mail", connection_type: "error" },
      { id: "wait", node_type: "wait", action_config: { duration: "2h" }, parent_node_id: "Thanks" },
      { ...say("Later"), parent_node_id: "wait" },
    ],
    { trigger_keyword: "form", end_action_type: "resolve" },
  );
  const quiet = await create(
    chain({ id: "tag", node_type: "add_tag", action_config: { tag: "seen" } }, say("Quiet")),
    { trigger_keyword: "form, quiet" },
  );
  const loop = await create(
    [
      say("Again"),
      { id: "reply", node_type: "wait_for_reply", action_config: { timeout: "1h" }, parent_node_id: "Again" },
      {
        id: "stop",
        node_type: "end",
        parent_node_id: "reply",
        connection_type: "keyword",
        connection_value: "done",
      },
      {
        id: "start",
        node_type: "start_flow",
        parent_node_id: "reply",
        connection_type: "timeout",
        action_config: { flow_id: form.id },
      },
      {
        id: "back",
        node_type: "goto",
        parent_node_id: "reply",
        connection_type: "default",
        action_config: { node_id: "Again" },
      },
    ],
    { trigger_keyword: "loop", priority: 1 },
  );
  flowIds = { form: form.id, loop: loop.id, quiet: quiet.id };
});

interface Subject {
  readonly number: string;
  readonly conversation_id: string;
  readonly contact_id: string;
}

const write = (text: string) => (subject: Subject) => openPhone(app, subject.number).write(text);
const trigger = (name: keyof typeof flowIds) => (subject: Subject) =>
  app.call(flows.trigger_flow, { id: flowIds[name], conversation_id: subject.conversation_id });
const pass = (ms: number) => () => app.advanceTime(ms);
const block = (blocked: boolean) => (subject: Subject) =>
  app.call(contacts.update_contact, { id: subject.contact_id, blocked });

const actions: Readonly<Record<string, (subject: Subject) => Promise<unknown>>> = {
  writeForm: write("form please"),
  writeLoop: write("loop"),
  writeValid: write("ann@example.com"),
  writeInvalid: write("no"),
  writeDone: write("done"),
  triggerForm: trigger("form"),
  triggerLoop: trigger("loop"),
  triggerQuiet: trigger("quiet"),
  passSecond: pass(second),
  passHour: pass(hour),
  passDay: pass(day),
  reply: ({ number }) => app.call(messages.send_message, { to: number, type: "text", text: { body: "Hi" } }),
  close: ({ conversation_id: id }) => app.call(conversations.update_conversation, { id, status: "closed" }),
  block: block(true),
  unblock: block(false),
  disable: () => app.call(flows.update_flow, { id: flowIds.form, is_enabled: false }),
  enable: () => app.call(flows.update_flow, { id: flowIds.form, is_enabled: true }),
  newVersion: () => app.call(flows.update_flow, { id: flowIds.quiet, nodes: [say("Quiet again")] }),
  async cancel({ conversation_id }) {
    const { data } = await app.call(flows.list_flow_runs, { conversation_id, status: "waiting" });
    await Promise.all(data.map(({ id }) => app.call(flows.cancel_flow_run, { id })));
  },
};

/** To which states each state may change, seen between actions. */
const moves: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  running: [],
  waiting: ["waiting", "completed", "failed", "cancelled"],
  completed: ["completed"],
  failed: ["failed"],
  cancelled: ["cancelled"],
};

const expected = new Set(["flow_disabled", "flow_run_active", "flow_not_startable", "contact_blocked"]);
let people = 0;

test("states, steps, waits and messages of runs agree after every action", {
  timeout: 180_000,
}, async () => {
  const sequences = fc.array(fc.constantFrom(...Object.keys(actions)), {
    minLength: 5,
    maxLength: 30,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const number = `+1415551${String(++people).padStart(4, "0")}`;
      const { conversation_id } = await openPhone(app, number).write("hello");
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      const subject = { number, conversation_id, contact_id: data.contact_id };
      let before = new Map<string, Run>();
      for (const name of sequence) {
        await actions[name]?.(subject).catch(ignoreExpected);
        await app.advanceTime(second);
        before = await expectAgreement(subject, before, name);
      }
      await actions.unblock?.(subject);
      await app.advanceTime(31 * day);
      await app.advanceTime(31 * day);
      const ended = await expectAgreement(subject, before, "the end");
      expect([...ended.values()].filter(({ status }) => status === "waiting")).toEqual([]);
    }),
    // The sequences of this seed have every action.
    randomRuns(3, 20, 65),
  );
});

function ignoreExpected(error: unknown): void {
  if (!(error instanceof CallFailure) || !expected.has(error.code)) {
    throw error;
  }
}

interface Run {
  readonly id: string;
  readonly status: RunStatus;
  readonly steps: number;
  readonly is_interactive: boolean;
  readonly due_at: string | null;
  /** The jobs that end its present wait. */
  readonly resumes: number;
  readonly step_numbers: readonly number[] | null;
  readonly sent: number;
  readonly stored: number;
}

async function expectAgreement(
  { conversation_id }: Subject,
  before: ReadonlyMap<string, Run>,
  action: string,
): Promise<Map<string, Run>> {
  const { rows } = await sql<Run>`
    select id, status, steps, is_interactive, due_at,
      (select count(*) from jobs where name = 'flow.resume' and payload ->> 'run_id' = flow_runs.id
        and (payload ->> 'episode')::integer = flow_runs.episode)::integer as resumes,
      (select json_agg(number order by number) from flow_run_steps where run_id = flow_runs.id) as step_numbers,
      (select count(distinct detail ->> 'message_id') from flow_run_steps where run_id = flow_runs.id)::integer as sent,
      (select count(*) from messages where id in
        (select detail ->> 'message_id' from flow_run_steps where run_id = flow_runs.id))::integer as stored
    from flow_runs where conversation_id = ${conversation_id}
  `.execute(app.server.database.queries);
  for (const run of rows) {
    const earlier = before.get(run.id);
    expect(
      earlier ? moves[earlier.status] : ["waiting", "completed", "failed", "cancelled"],
      action,
    ).toContain(run.status);
    if (earlier && earlier.status !== "waiting") {
      expect(run).toEqual({ ...earlier, resumes: run.resumes });
    }
    if (run.status === "waiting") {
      expect({ isDue: Date.parse(run.due_at ?? "") > app.now().getTime(), resumes: run.resumes }).toEqual({
        isDue: true,
        resumes: 1,
      });
    }
    expect(run.step_numbers ?? []).toEqual(Array.from({ length: run.steps }, (_, index) => index + 1));
    expect(run.stored).toBe(run.sent);
  }
  expect(
    rows.filter(({ status, is_interactive }) => status === "waiting" && is_interactive).length,
  ).toBeLessThan(2);
  const { rows: counts } = await sql<{ messages: number; steps: number }>`
    select (select count(*) from messages where conversation_id = ${conversation_id}
        and sent_by ->> 'type' = 'flow')::integer as messages,
      (select count(detail ->> 'message_id') from flow_run_steps join flow_runs on flow_runs.id = run_id
        where conversation_id = ${conversation_id})::integer as steps
  `.execute(app.server.database.queries);
  expect(counts[0]?.messages).toBe(counts[0]?.steps);
  return new Map(rows.map((run) => [run.id, run]));
}
