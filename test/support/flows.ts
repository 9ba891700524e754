/** Creates flows, and reads the runs of a conversation. */

import type { z } from "zod";
import type { InputOf } from "../../tools/contract/index.ts";
import { type FlowRunDetails, flows } from "../../tools/flows/index.ts";
import type { TestApp } from "./app.ts";

type NewFlow = InputOf<typeof flows.create_flow>;
export type NewNode = NewFlow["nodes"][number];

/** Nodes one below the other, in their order. */
export function chain(...nodes: readonly Omit<NewNode, "parent_node_id">[]): NewNode[] {
  return nodes.map((node, index) => ({ ...node, parent_node_id: nodes[index - 1]?.id ?? null }));
}

/** A node that sends a text. */
export function say(text: string, id = text): NewNode {
  return { id, node_type: "send_message", action_config: { text } };
}

export function createFlowHelpers(app: TestApp) {
  return {
    /** Started by the keyword hi, unless told otherwise. */
    async create(nodes: NewNode[], fields: Partial<NewFlow> = {}) {
      const { data } = await app.call(flows.create_flow, {
        name: "Flow",
        end_action_type: "none",
        trigger_type: "keyword",
        trigger_keyword: "hi",
        ...fields,
        nodes,
      });
      return data;
    },

    /** The runs of a conversation with their paths, oldest first. */
    async runsOf(conversation_id: string): Promise<z.output<typeof FlowRunDetails>[]> {
      const { data } = await app.call(flows.list_flow_runs, { conversation_id, per_page: 100 });
      const runs = data.map(async ({ id }) => (await app.call(flows.get_flow_run, { id })).data);
      return (await Promise.all(runs)).reverse();
    },
  };
}

/** The texts that a phone shows from the organization. */
export function textsOf(
  messages: readonly { direction: string; text?: { body: string } }[],
): (string | undefined)[] {
  return messages.filter(({ direction }) => direction === "outbound").map(({ text }) => text?.body);
}
