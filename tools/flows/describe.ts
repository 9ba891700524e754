/** Describes the parts of flows, for an assistant that is about to write a flow. */
import { z } from "zod";
import { one, operation } from "../contract/index.ts";
import { type TriggerEvent, triggerEvents } from "./data.ts";
import { type ConnectionType, connectionTypes, nodes, nodeTypes } from "./nodes/index.ts";

/** When each connection to a child is taken. */
const connections: Readonly<Record<ConnectionType, string>> = {
  always: "After success. Of several, each runs with all below it",
  keyword:
    "The reply has connection_value; a match may stand before it: exact:, contains:, starts_with:, regex:",
  button: "The button or row with the id connection_value was chosen",
  condition_true: "The condition is met",
  condition_false: "The condition is not met",
  timeout: "No reply came in time",
  error: "The node failed; without this child, the run fails",
  default: "No other connection matched",
};

const events: Readonly<Record<TriggerEvent, string>> = {
  "message.received": "A contact writes",
  "message.failed": "A message fails that no flow has sent",
  "conversation.created": "A contact writes, or is written to, for the first time",
  "conversation.opened": "The status becomes open again",
  "conversation.assigned": "The conversation gets an agent",
  "conversation.closed": "The conversation is closed",
  "contact.created": "A contact is created, not by an import",
  "contact.tag_added": 'A contact gets a tag, not by a flow; settings {"tag":"vip"} for this one',
  "window.expiring": "The 24-hour window ends in two hours",
};

const placeholders = {
  "{{contact.name}}": "Also phone_number, username, country, and metadata.<path>",
  "{{message.text}}": "The message that started the run, or the latest reply to it",
  "{{vars.<name>}}": "What ask saved; {{vars.<name>.body.<path>}} of what http_request saved",
  '{{contact.name | default: "there"}}': "With a default for a missing value",
};

const triggers = {
  keyword: "trigger_keyword, several separated by commas; trigger_match",
  event: "trigger_event_type, one of events",
  schedule:
    'trigger_schedule, five fields of cron such as 0 9 * * 1-5, or trigger_schedule_at; trigger_schedule_timezone; settings {"cohort_id"}: its contacts but for those who opted out, otherwise every open conversation of the inbox',
};

const endActions = {
  assign: "As the node assign",
  snooze: '{"until": "4h"} or a time; without it, until the contact writes',
  handoff_chatbot: "As the node chatbot",
};

const texts = z.record(z.string(), z.string());

const FlowDescription = z.object({
  nodes: z.array(
    z.object({
      node_type: z.enum(nodeTypes),
      description: z.string(),
      /** Examples of action_config, which together contain every argument. */
      examples: z.array(z.record(z.string(), z.unknown())),
      /** The connection types that children of the node may have. */
      children: z.array(z.enum(connectionTypes)),
    }),
  ),
  connection_types: texts,
  placeholders: texts,
  triggers: texts,
  events: z.record(z.enum(triggerEvents), z.string()),
  end_actions: texts,
});

export const flowDescription: z.input<typeof FlowDescription> = {
  nodes: nodeTypes.map((node_type) => {
    const { summary, examples, edges } = nodes[node_type];
    return { node_type, description: summary, examples: [...examples], children: [...edges] };
  }),
  connection_types: connections,
  placeholders,
  triggers,
  events,
  end_actions: endActions,
};

export const describeFlowNodes = operation({
  method: "GET",
  path: "/v1/automation/flow-nodes",
  scope: "inbox:read",
  tier: "extended",
  title: "Describe flow nodes",
  description:
    "Get the arguments, examples and connections of each node type of flows, the placeholders and the triggers. Call it before create_flow.",
  input: z.object({}),
  output: one(FlowDescription),
});
