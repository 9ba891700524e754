/** Every tool with the smallest arguments that it takes. */
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
  tools,
} from "../../src/mcp/tool-list/index.ts";
import type { JsonSchema, ToolMode } from "../../tools/contract/index.ts";
import type { PlannedTool } from "./clients/client.ts";

/** Where a rule between several arguments, or the form of a text, is not in the schema. */
const chosen: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  run_read_tool: { name: "list_contacts" },
  run_write_tool: { name: "create_quick_reply", arguments: { short_code: "hours", content: "9 to 5" } },
  assign_conversation: { assigned_to: "usr_1" },
  tag_contact: { add: ["vip"] },
  tag_contacts: { query: {}, add: ["vip"] },
  send_rich_message: { type: "location", location: { latitude: 52.5163, longitude: 13.3777 } },
  send_interactive_message: { buttons: [{ id: "yes", title: "Yes" }] },
  create_flow: { trigger_keyword: "hi" },
  rehearse_flow: { flow_id: "flow_1" },
  simulate_routing: { conversation_id: "conv_1" },
  add_document: { source_type: "markdown" },
  view_media: { message_id: "msg_1" },
  upload_file: { url: "https://example.com/menu.pdf" },
};

const chosenByField: Readonly<Record<string, unknown>> = {
  to: "+14155550123",
  phone_number: "+14155550123",
  url: "https://example.com/hook",
  media_url: "https://example.com/menu.pdf",
  language: "en",
};

export function planCalls(): PlannedTool[] {
  return [...listOf("search"), ...listOf("all")].map(({ name, inputSchema }) => ({
    name,
    inputSchema,
    arguments: { ...smallest(inputSchema), ...chosen[name] },
  }));
}

function listOf(mode: ToolMode) {
  const filter = createToolFilter(tools, { ...defaultToolFilterSettings, mode });
  return createToolList(tools).list({ scopes: undefined, filter });
}

function smallest(schema: JsonSchema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, JsonSchema>>;
    required?: readonly string[];
  };
  return Object.fromEntries(
    required.map((name) => [name, chosenByField[name] ?? sample(properties[name] ?? {})]),
  );
}

const samples: Readonly<Record<string, (schema: JsonSchema) => unknown>> = {
  object: smallest,
  array: ({ items }) => [sample(items as JsonSchema)],
  string: ({ enum: names, format }) =>
    Array.isArray(names) ? names[0] : format === "date-time" ? "2030-01-01T00:00:00Z" : "x",
  integer: ({ minimum = 1 }) => minimum,
  number: ({ minimum = 1 }) => minimum,
  boolean: () => true,
};

function sample(schema: JsonSchema): unknown {
  return samples[String(schema.type)]?.(schema);
}
