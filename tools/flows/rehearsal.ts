/** The rehearsal of a flow: its input and its output. */
import { z } from "zod";
import {
  id,
  inputTimestamp,
  jsonObject,
  limitedObject,
  metadata,
  one,
  operation,
  phone,
  tag,
  timestamp,
  untrusted,
} from "../contract/index.ts";
import { conversationStatuses } from "../conversations.ts";
import { endActions, maxNodes, Node, oneOf, triggerEvents } from "./data.ts";
import { callErrors, duration } from "./nodes/index.ts";
import { requireTrigger, trigger_type, triggerFields } from "./trigger.ts";

/** More entries than a run of 100 steps can use. */
const maxScript = 50;

const ScriptEntry = z
  .strictObject({
    text: z.string().min(1).max(4096).optional(),
    /** The id or the title of a button or row that the flow has sent. */
    button: z.string().min(1).max(256).optional(),
    after: duration.optional(),
  })
  .refine(
    ({ text, button, after }) =>
      (text === undefined) !== (button === undefined) || (!text && !button && after),
    "Send text or button, or after alone for silence.",
  );

const sampleTags = z.array(tag).max(200);

const SampleContact = z.strictObject({
  id: z.string().max(64).optional(),
  name: z.string().max(255).optional(),
  phone_number: phone.optional(),
  metadata: metadata.optional(),
  tags: sampleTags.optional(),
});

const SampleConversation = z.strictObject({
  status: z.enum(conversationStatuses).exclude(["spam"]).optional(),
  tags: sampleTags.optional(),
  last_user_message_at: inputTimestamp.optional(),
});

const SampleTrigger = z.strictObject({ trigger_type, ...triggerFields }).superRefine(requireTrigger);

const SampleEvent = z.strictObject({
  type: oneOf(triggerEvents),
  /** The tag that was added, for contact.tag_added. */
  tag: tag.optional(),
});

/** The response that an http_request gets instead of calling. */
const SampleResponse = z
  .strictObject({
    status: z.int().min(100).max(599).optional(),
    body: z.unknown().optional(),
    error: z.enum(callErrors).optional(),
  })
  .refine(
    ({ status, error }) => (status === undefined) !== (error === undefined),
    "Send status, with or without body, or error.",
  );

const input = z
  .object({
    flow_id: id("Flow", "list_flows").optional().describe("A stored flow; otherwise send nodes"),
    nodes: z
      .array(Node)
      .min(1)
      .max(maxNodes)
      .optional()
      .describe(
        "A graph to try, linked by parent_node_id. Its nodes and its errors are those of create_flow.",
      ),
    end_action_type: z.enum(endActions).optional().describe("With nodes; default none"),
    end_action_config: jsonObject.optional().describe("With nodes"),
    trigger: SampleTrigger.optional().describe(
      "With nodes: the trigger fields of create_flow. The answer says whether it matches (would_trigger), and the next time of a schedule",
    ),
    event: SampleEvent.optional().describe(
      'What happens, to compare with an event trigger: {"type":"contact.tag_added","tag":"vip"}. By default the message is received',
    ),
    message: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe(
        "What the customer writes to start it. Without it, the 24-hour window is open only if the conversation's last message is recent",
      ),
    script: z
      .array(ScriptEntry)
      .max(maxScript)
      .default([])
      .describe(
        'What the customer does then, in order: {"text"} or {"button"} (id or title) answers when the flow next waits for a reply; with "after" ("2h") it comes that long after the previous entry, whatever the flow does; {"after"} alone is silence. At its end the customer stays silent, so waits time out',
      ),
    responses: limitedObject(
      (value) => Object.keys(value).length <= maxNodes,
      `At most ${maxNodes} responses.`,
      z.record(z.string().max(64), SampleResponse),
    )
      .optional()
      .describe(
        'What http_request nodes get, by node id: {"status", "body"}, or {"error"} such as http_timeout. Default: status 200 without a body',
      ),
    start_at: inputTimestamp.optional().describe("When it starts; default now"),
    contact: SampleContact.optional().describe(
      'A contact\'s "id", whose data are read, or sample values: name, phone_number, metadata, tags',
    ),
    conversation: SampleConversation.optional().describe(
      "Values for its conditions: status, tags, last_user_message_at",
    ),
  })
  .superRefine((value, context) => {
    const reject = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    if ((value.flow_id === undefined) === (value.nodes === undefined)) {
      reject("flow_id", "Send either flow_id or nodes.");
    }
    for (const field of ["end_action_type", "end_action_config", "trigger"] as const) {
      if (value[field] !== undefined && value.flow_id !== undefined) {
        reject(field, `Send ${field} with nodes alone.`);
      }
    }
    const { id: contact_id, ...sample } = value.contact ?? {};
    if (contact_id !== undefined && Object.values(sample).some((one) => one !== undefined)) {
      reject("contact", "Send either the id of a contact or sample values.");
    }
  });

const Step = z.object({
  number: z.int(),
  node_id: z.string(),
  node_type: z.string(),
  at: timestamp,
  /** The same values as in get_flow_run. */
  outcome: z.string(),
  next: z.array(z.string()).optional(),
  /** The number of the message that the step sends, in `messages`. */
  message: z.int().optional(),
  /** The other changes of the step. */
  did: untrusted(z.array(z.string())).optional(),
  wait: z
    .object({
      for: z.enum(["time", "reply", "response"]),
      /** Null for a response. */
      until: timestamp.nullable(),
      ended_by: z.enum(["time", "timeout", "reply", "response"]),
    })
    .optional(),
  error: z.string().optional(),
  missing: z.array(z.string()).optional(),
  timed_out: z.array(z.string()).optional(),
});

const TranscriptMessage = z.object({
  number: z.int(),
  from: z.enum(["customer", "flow"]),
  at: timestamp,
  /** If it is missing, the type is text. */
  type: z.string().optional(),
  text: untrusted(z.string()),
  buttons: z.array(z.string()).optional(),
  media_url: z.string().optional(),
});

const Changes = z.object({
  contact: z
    .object({
      tags: z.array(z.string()).optional(),
      /** The attributes that changed; null for a removed one. */
      metadata: untrusted(z.record(z.string(), z.unknown())).optional(),
      opted_out: z.boolean().optional(),
    })
    .optional(),
  conversation: z
    .object({
      status: z.enum(conversationStatuses).optional(),
      tags: z.array(z.string()).optional(),
      assigned_to: z.string().nullable().optional(),
      team_id: z.string().nullable().optional(),
    })
    .optional(),
});

export const FlowRehearsal = z.object({
  status: z.enum(["completed", "failed", "cancelled"]),
  /** As for a run; null if the rehearsal completed. */
  reason: z.string().nullable(),
  /**
   * Whether the message or the event starts the flow while it is enabled. Null without a trigger, for a
   * schedule, and if nothing was sent to compare with the trigger.
   */
  would_trigger: z.boolean().nullable(),
  /** Whether the stored flow is enabled now; null for nodes. */
  is_enabled: z.boolean().nullable(),
  /** When the schedule starts the flow next, after the start of the rehearsal; null without one. */
  next_run_at: timestamp.nullable(),
  started_at: timestamp,
  ended_at: timestamp,
  path: z.array(Step),
  messages: z.array(TranscriptMessage),
  variables: untrusted(z.record(z.string(), z.unknown())),
  /** The values that the run has changed at its end. */
  changes: Changes,
  /** The entries of the script that the run did not reach. */
  unused_script: z.array(
    z.object({
      text: untrusted(z.string()).optional(),
      button: z.string().optional(),
      after: z.string().optional(),
    }),
  ),
});

/** The input in few words, and with open objects: the declarations above check it all the same. */
const toolInput = z.object({
  flow_id: input.shape.flow_id.describe("A stored flow; or send nodes"),
  nodes: z.array(jsonObject).max(maxNodes).optional().describe("A graph to try; create_flow has its form"),
  end_action_type: z.string().max(64).optional().describe("With nodes"),
  end_action_config: input.shape.end_action_config,
  trigger: jsonObject.optional().describe("With nodes; create_flow has its fields"),
  event: jsonObject.optional().describe('Like {"type":"contact.tag_added","tag":"vip"}'),
  message: input.shape.message.describe(
    "What the customer writes first; without it, the window may be closed",
  ),
  script: input.shape.script.describe(
    'What the customer does then: text or button (id or title) answers the next wait, or with after ("2h") comes that long after the previous entry; after alone is silence',
  ),
  responses: limitedObject(
    (value) => Object.keys(value).length <= maxNodes,
    `At most ${maxNodes} responses.`,
    z.record(
      z.string().max(64),
      z.object({ ...SampleResponse.shape, status: z.int().optional(), error: z.string().max(64).optional() }),
    ),
  )
    .optional()
    .describe("What http_request nodes get, by node id: status and body, or an error like http_timeout"),
  start_at: input.shape.start_at.describe("Default now"),
  contact: jsonObject
    .optional()
    .describe('A contact\'s {"id"}, or sample values: name, phone_number, metadata, tags'),
  conversation: jsonObject.optional().describe("Sample values: status, tags, last_user_message_at"),
});

const title = "Rehearse flow";
const description =
  "Try a flow with a scripted customer and a simulated clock: get its path, messages, variables and changes, and whether its trigger matches. Nothing is sent or stored.";

export const rehearsalOperation = operation({
  method: "POST",
  path: "/v1/automation/flows/rehearse",
  scope: "inbox:read",
  title,
  description,
  input,
  output: one(FlowRehearsal),
  effect: "read",
  tools: { rehearse_flow: { title, description, input: toolInput } },
});
