/** Runs of flows with an answer of a contact: one that was cancelled, and one that waits. */
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import { flows } from "../../tools/flows/index.ts";
import type { TestApp } from "./app.ts";
import { openPhone } from "./simulator.ts";

interface PlantingContext {
  readonly app: TestApp;
  call<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>>;
  readonly number: string;
  marked(text: string): string;
}

export async function plantFlows(
  { app, call, number, marked }: PlantingContext,
  conversation_id: string,
): Promise<void> {
  const trigger = { trigger_type: "keyword", trigger_keyword: "survey", end_action_type: "none" } as const;
  const { data } = await call(flows.create_flow, {
    name: "Survey",
    ...trigger,
    nodes: [
      { id: "ask", node_type: "ask", action_config: { text: "Why?", save_as: "why" } },
      {
        id: "thank",
        node_type: "send_message",
        action_config: { text: "{{vars.why}}" },
        parent_node_id: "ask",
      },
      {
        id: "note",
        node_type: "add_note",
        action_config: { text: "Said: {{vars.why}}" },
        parent_node_id: "thank",
      },
      { id: "wait", node_type: "wait", action_config: { duration: "30d" }, parent_node_id: "note" },
    ],
  });
  for (const answer of ["late", "dear"]) {
    await call(flows.trigger_flow, { id: data.id, conversation_id });
    await app.runDueJobs();
    await openPhone(app, number).write(marked(answer));
    await app.runDueJobs();
    const { data: runs } = await app.call(flows.list_flow_runs, { conversation_id, status: "waiting" });
    if (answer === "late") {
      await call(flows.cancel_flow_run, { id: runs[0]?.id ?? "" });
    }
  }
}
