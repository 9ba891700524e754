/** Rehearsals of flows go the way of real runs: the same steps, outcomes, texts and variables. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { InputOf } from "../tools/contract/index.ts";
import { durationMs, flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { randomNodes, randomScript } from "./support/flow-graphs.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";
import { randomRuns } from "./support/iterations.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);

type Rehearsal = InputOf<typeof flows.rehearse_flow>;

const node = (id: string, node_type: NewNode["node_type"], action_config: object = {}) => ({
  id,
  node_type,
  action_config: { ...action_config },
});
const nameStep = ({ node_id, outcome }: { node_id: string; outcome: string }) => `${node_id} ${outcome}`;
const isOfFlow = ({ from }: { from: string }) => from === "flow";

const silent = { after: "3h" };
const statusIs = (status: string) =>
  node("if", "condition", { query: { attribute: "conversation.status", operator: "eq", value: status } });

/** Flows and scripts that the random ones do not have. */
const examples: [NewNode[], { text?: string; button?: string; after?: string }[]][] = [
  [
    [
      node("q", "send_message", {
        interactive: { body: "Sure?", buttons: ["Yes", "No"].map((title) => ({ id: title[0], title })) },
      }),
      { ...say("Good", "good"), parent_node_id: "q", connection_type: "button", connection_value: "Y" },
      { ...say("Bad", "bad"), parent_node_id: "q", connection_type: "button", connection_value: "N" },
      { ...say("Else {{message.text}}", "else"), parent_node_id: "q", connection_type: "default" },
      { ...say("Always", "always"), parent_node_id: "q", sort_order: 5 },
      { ...node("back", "goto", { node_id: "q" }), parent_node_id: "bad" },
    ],
    [{ text: "no", after: "1h" }, silent, { button: "N" }, { text: "yess", after: "25h" }],
  ],
  [
    [
      ...chain(
        node("snooze", "set_status", { status: "snoozed", duration: "2h" }),
        node("wait", "wait", { duration: "1h" }),
        statusIs("snoozed"),
      ),
      { ...say("Asleep", "asleep"), parent_node_id: "if", connection_type: "condition_true" },
      { ...say("Awake", "awake"), parent_node_id: "if", connection_type: "default" },
      { ...node("more", "wait", { duration: "2h" }), parent_node_id: "asleep" },
      { ...node("again", "goto", { node_id: "if" }), parent_node_id: "more" },
    ],
    [],
  ],
  [
    [
      ...chain(
        node("close", "set_status", { status: "closed" }),
        node("hear", "wait_for_reply", { timeout: "1h" }),
        statusIs("open"),
      ),
      { ...say("Reopened", "reopened"), parent_node_id: "if", connection_type: "condition_true" },
      { ...say("Still closed", "closed"), parent_node_id: "if", connection_type: "default" },
      { ...node("t", "send_template", { name: "none", language: "en" }), parent_node_id: "reopened" },
      { ...say("No template", "none"), parent_node_id: "t", connection_type: "error" },
    ],
    [{ text: "hello" }],
  ],
];

test("a rehearsal goes the way of a real run", async () => {
  let numbers = 0;
  await fc.assert(
    fc.asyncProperty(randomNodes, randomScript, async (nodes, script) => {
      const keyword = `start${++numbers}`;
      const flow = await create(nodes, { trigger_keyword: keyword });
      const start = app.now();
      const contact = { phone_number: `+1415559${String(numbers).padStart(4, "0")}` };
      const input = { message: keyword, script, contact, start_at: start.toISOString() };
      const { data: answer } = await app.call(flows.rehearse_flow, { ...input, flow_id: flow.id });
      const real = await runReally(contact.phone_number, keyword, script);
      expect({ ...real, status: answer.status, reason: answer.reason }).toEqual({
        status: real.status,
        reason: real.reason,
        path: answer.path.map(nameStep),
        texts: answer.messages.filter(isOfFlow).map(({ text }) => text),
        variables: answer.variables,
      });
    }),
    { ...randomRuns(4 + examples.length, 12 + examples.length), examples },
  );
});

/** Plays the script against a real run, with the clock of the app. */
async function runReally(number: string, keyword: string, script: Rehearsal["script"] = []) {
  const phone = openPhone(app, number);
  const { conversation_id } = await phone.write(keyword);
  let eventAt = app.now().getTime();
  await app.runDueJobs();
  const readRun = async () => {
    const [run] = await runsOf(conversation_id);
    if (!run) {
      throw new Error("no run was started");
    }
    return run;
  };
  const moveTo = (time: number) => app.advanceTime(time - app.now().getTime());
  const rest = [...script];
  for (let run = await readRun(); run.status === "waiting"; run = await readRun()) {
    const [next] = rest;
    const due = Date.parse(run.due_at ?? "");
    const answersAt = run.waiting_for === "reply" ? app.now().getTime() + 5_000 : Number.POSITIVE_INFINITY;
    const time = next?.after === undefined ? answersAt : eventAt + durationMs(next.after);
    if (next && time < due) {
      rest.shift();
      await moveTo(time);
      eventAt = time;
      if (next.text !== undefined || next.button !== undefined) {
        // The simulator takes one of the two.
        await phone.write("", { text: next.text, button: next.button });
      }
      await app.runDueJobs();
    } else {
      await moveTo(due);
    }
  }
  const { status, reason, path, variables } = await readRun();
  const { data } = await app.call(messages.list_messages, { conversation_id, per_page: 100 });
  return {
    status,
    reason,
    variables,
    path: path.map(nameStep),
    texts: data
      .filter(({ direction }) => direction === "outbound")
      .map(({ text, interactive }) => text?.body ?? interactive?.body)
      .reverse(),
  };
}
