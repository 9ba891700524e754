/**
 * The scopes that a flow's actions need, required to save and enable the flow, and as long as it acts; and
 * the operations that the rules of who saves and enables it have to allow.
 */
import type { Scope } from "../../../../../tools/contract/index.ts";
import { events } from "../../../../../tools/events.ts";
import { nodes as declarations, type NodeType } from "../../../../../tools/flows/index.ts";
import { allowedOperations, requireOperation } from "../../../../../tools/rule-operations.ts";
import type { Queries } from "../../../../database/database.ts";
import type { FlowNode } from "../../../../database/schema/index.ts";
import { type ReadContext, requireScope } from "../../../foundation/kernel/index.ts";
import { type FlowRow, selectFlows } from "../definitions/find.ts";
import { type Graph, toGraph } from "../graph/index.ts";

interface ActingFlow extends Pick<FlowRow, "trigger_type" | "trigger_event_type" | "cohort_id"> {
  readonly nodes: readonly FlowNode[];
}

/** The scope for creating a flow. The flow itself needs it too. */
const ownScope: Scope = "inbox:write";

/** The operations that do what a node does; of the other nodes, there are none. */
const operationsByNode: Partial<Record<NodeType, string>> = {
  send_message: "send_message",
  send_template: "send_message",
  ask: "send_message",
  assign: "assign_conversation",
  unassign: "unassign_conversation",
  add_tag: "tag_contact",
  remove_tag: "tag_contact",
  set_attribute: "update_contact",
  set_status: "update_conversation",
  add_note: "add_note",
};

/**
 * The scopes with which a flow acts from now on, and the user for whom it acts.
 * @throws Failure `insufficient_scope`, `not_allowed_by_rules`.
 */
export async function requireAuthority(
  { db, organization, caller }: Pick<ReadContext, "db" | "organization" | "caller">,
  { nodes, ...trigger }: ActingFlow,
): Promise<Pick<FlowRow, "scopes" | "creator_id">> {
  const graphs = [toGraph(nodes), ...(await findStarted(db, organization, nodes))];
  const types = new Set(graphs.flatMap((graph) => graph.nodes.map(({ node_type }) => node_type)));
  const isSending = [...types].some((type) => declarations[type].sends);
  const scopes = [
    ...new Set([ownScope, ...graphs.flatMap(scopesOfNodes), ...scopesOfTrigger(trigger, isSending)]),
  ];
  for (const scope of scopes) {
    requireScope(caller, scope);
  }
  const allowed = allowedOperations(caller.rules);
  for (const operation of [...types].flatMap((type) => operationsByNode[type] ?? [])) {
    requireOperation(allowed, operation);
  }
  return { scopes, creator_id: caller.acts_for };
}

export function scopesOfNodes({ nodes }: Graph): readonly Scope[] {
  return [...new Set(nodes.flatMap(({ node_type }) => declarations[node_type].scope ?? []))];
}

/**
 * A trigger on an event of contacts reads contacts. A cohort needs the scope of a broadcast's audience, also
 * if a flow sends to it.
 */
function scopesOfTrigger(
  { trigger_event_type: event, cohort_id }: Omit<ActingFlow, "nodes">,
  isSending: boolean,
): readonly Scope[] {
  const reading = event !== null && events[event].scope === "contacts:read" ? ["contacts:read" as const] : [];
  const cohort =
    cohort_id === null ? [] : [isSending ? ("broadcasts:send" as const) : ("broadcasts:read" as const)];
  return [...reading, ...cohort];
}

/** The graphs of the flows that these nodes start, directly or through other flows. */
async function findStarted(
  db: Queries,
  organization: string,
  nodes: readonly FlowNode[],
): Promise<readonly Graph[]> {
  const seen = new Set<string>();
  const graphs: Graph[] = [];
  let ids = startedBy(nodes);
  while (ids.length > 0) {
    ids.forEach((id) => {
      seen.add(id);
    });
    const found = await selectFlows(db, organization).where("flows.id", "in", ids).execute();
    graphs.push(...found.map((flow) => toGraph(flow.nodes)));
    ids = found.flatMap((flow) => startedBy(flow.nodes)).filter((id) => !seen.has(id));
  }
  return graphs;
}

function startedBy(nodes: readonly FlowNode[]): readonly string[] {
  const ids = nodes.map(({ node_type, action_config }) =>
    node_type === "start_flow" ? action_config.flow_id : undefined,
  );
  return [...new Set(ids)].filter((id) => typeof id === "string");
}
