/** Rehearses a flow: the operation `rehearse_flow`. It only reads. */
import type { z } from "zod";
import type { flows as contract, FlowRehearsal } from "../../../../../tools/flows/index.ts";
import { type ReadContext, requireScope } from "../../../foundation/kernel/index.ts";
import { scopesOfNodes } from "../authority/index.ts";
import { inspectGraph } from "../checks/pattern-rules.ts";
import { getFlow } from "../definitions/find.ts";
import { prepareVersion, readEndAction, toStoredNode } from "../definitions/save.ts";
import { isInteractive, toGraph } from "../graph/index.ts";
import { createVerdicts } from "../texts/patterns.ts";
import { createRehearsalActions } from "./actions.ts";
import { runRehearsal } from "./run.ts";
import { receive, type Scene, type Stage } from "./stage.ts";
import { readSubject } from "./subject.ts";
import { describeTrigger, readSampleTrigger } from "./trigger.ts";

type Input = z.output<typeof contract.rehearse_flow.input>;
type Output = z.input<typeof FlowRehearsal>;

/**
 * @throws Failure `flow_not_found`, `flow_invalid`, `insufficient_scope`, `contact_not_found`,
 *   `invalid_phone_number`, `no_inbox`, `choice_not_sent`.
 */
export async function rehearseFlow(input: Input, context: ReadContext): Promise<Output> {
  const { db, world, organization } = context;
  const { flow_id, message, event, script, responses = {} } = input;
  const flow = flow_id === undefined ? undefined : await getFlow(db, organization, flow_id);
  const version = flow ?? (await readVersion(input, context));
  const start = input.start_at === undefined ? context.now : new Date(input.start_at);
  const trigger = flow ?? (input.trigger && (await readSampleTrigger(input.trigger, context, start)));
  const inbox_id = flow?.inbox_id ?? null;
  const { inbox, ...subject } = await readSubject(input, context, { inbox_id, start });
  const first: Scene = { ...subject, messages: [], choices: [], held: 0, did: [] };
  const graph = toGraph(version.nodes);
  const stage: Stage = {
    db,
    world,
    organization,
    inbox,
    now: start,
    scene: first,
    isInteractive: isInteractive(graph),
    actor: { type: "flow", id: flow_id ?? "rehearsal", name: flow?.name ?? "rehearsal", scopes: new Set() },
  };
  const inbound = message === undefined ? undefined : receive(stage, message);
  const verdicts = createVerdicts(world);
  const actions = createRehearsalActions(stage);
  const plan = { graph, endAction: version, script, responses, actions, verdicts };
  const { unused_script, ...run } = await runRehearsal(stage, plan, inbound);
  return {
    ...run,
    ...(await describeTrigger(trigger, { message, event, start, verdicts })),
    is_enabled: flow?.is_enabled ?? null,
    messages: stage.scene.messages,
    started_at: start.toISOString(),
    ended_at: stage.now.toISOString(),
    changes: changesBetween(first, stage.scene),
    unused_script: [...unused_script],
  };
}

/** The graph of the request, with the checks of `create_flow`. */
async function readVersion(
  { nodes = [], end_action_type, end_action_config = {} }: Input,
  context: ReadContext,
) {
  const stored = nodes.map(toStoredNode);
  const version = {
    nodes: stored,
    end_action_type: end_action_type ?? "none",
    end_action_config: readEndAction(end_action_config),
  };
  const prepared = await prepareVersion(context, version, {
    inspections: await inspectGraph(context, stored),
  });
  requireScope(context.caller, { all: scopesOfNodes(toGraph(stored)) });
  return prepared;
}

/** The values that the rehearsal changed, as they are at its end. */
function changesBetween(first: Scene, last: Scene): Output["changes"] {
  const [before, after] = [first.contact.metadata, last.contact.metadata];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const metadata = Object.fromEntries(
    names.filter((name) => isChanged(before[name], after[name])).map((name) => [name, after[name] ?? null]),
  );
  const contact = {
    ...changed(first.contact, last.contact, ["tags", "opted_out"]),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
  const fields = ["status", "tags", "assigned_to", "team_id"] as const;
  const conversation = changed(first.conversation, last.conversation, fields);
  return {
    ...(Object.keys(contact).length > 0 ? { contact } : {}),
    ...(Object.keys(conversation).length > 0 ? { conversation } : {}),
  };
}

function changed<Row extends object, Name extends keyof Row>(
  before: Row,
  after: Row,
  names: readonly Name[],
) {
  const entries = names
    .filter((name) => isChanged(before[name], after[name]))
    .map((name) => [name, after[name]]);
  // The entries are entries of the row.
  return Object.fromEntries(entries) as Partial<Pick<Row, Name>>;
}

function isChanged(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
