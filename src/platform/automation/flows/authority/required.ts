/** The scopes that a flow's actions need: required to save and enable the flow, and as long as it acts. */
import type { Scope } from "../../../../../tools/contract/index.ts";
import { events } from "../../../../../tools/events.ts";
import { nodes as declarations } from "../../../../../tools/flows/index.ts";
import type { Queries } from "../../../../database/database.ts";
import type { FlowNode } from "../../../../database/schema/index.ts";
import { type FlowRow, selectFlows } from "../definitions/find.ts";
import { type Graph, toGraph } from "../graph/index.ts";

interface ActingFlow extends Pick<FlowRow, "trigger_type" | "trigger_event_type" | "cohort_id"> {
  readonly nodes: readonly FlowNode[];
}

/** The scope for creating a flow. The flow itself needs it too. */
const ownScope: Scope = "inbox:write";

export async function requiredScopes(
  db: Queries,
  organization: string,
  { nodes, ...trigger }: ActingFlow,
): Promise<readonly Scope[]> {
  const graphs = [toGraph(nodes), ...(await findStarted(db, organization, nodes))];
  const isSending = graphs.some((graph) =>
    graph.nodes.some(({ node_type }) => declarations[node_type].sends),
  );
  return [...new Set([ownScope, ...graphs.flatMap(scopesOfNodes), ...scopesOfTrigger(trigger, isSending)])];
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
