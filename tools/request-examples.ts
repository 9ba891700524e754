/**
 * Examples of the bodies of requests, where the required fields alone show too little or are not enough: the
 * other examples are made from the schemas.
 */
import type { InputOf } from "./contract/index.ts";
import type { catalogue, OperationName } from "./index.ts";

const agent = "usr_01m7zc7d7bf9qbkz12jfyy9z78";
const team_id = "team_01m7zc7d7bf9qbkz12jfyy9z81";
const inbox_id = "inb_01m7zc7d7bf9qbkz12jfyy9z79";
const conversation_id = "conv_01m7zc81jrfw9sby55r6c48xyx";
const cohort_id = "coh_01m7zc9x1yf2tr5p3h2k8w6m4q";
const template_id = "tpl_01m7zc9x1yf2tr5p3h2k8w6m4q";

/** One step that answers. */
const nodes = [
  { id: "hello", node_type: "send_message", action_config: { text: "Hello {{contact.name}}!" } },
] as const;

export const requestExamples: {
  readonly [Name in OperationName]?: DeepReadonly<Partial<InputOf<(typeof catalogue)[Name]>>>;
} = {
  create_contact: { phone_number: "+14155550123", name: "Ada Lovelace", metadata: { tier: "gold" } },
  update_contact: { name: "Ada King", metadata: { tier: "platinum" } },
  upsert_contact: { phone_number: "+14155550123", name: "Ada Lovelace" },
  tag_contact: { add: ["vip"], remove: ["lead"] },
  toggle_flow: { is_enabled: true },
  update_conversation: { status: "closed", add_tags: ["refund"] },
  assign_conversation: { assigned_to: agent, reason: "Speaks French" },
  unassign_conversation: { reason: "End of the shift" },
  transfer_conversation: { from_agent: agent, to_agent: "usr_01m7zc9x1yf2tr5p3h2k8w6m4q" },
  send_message: { to: "+14155550123", type: "text", text: { body: "Your order is on its way." } },
  update_quick_reply: { content: "We are open from 9 to 6." },
  create_template: {
    name: "order_update",
    category: "utility",
    language: "en",
    template_data: { body: "Hello {{1}}, your order {{2}} is on its way." },
    variables: [
      { name: "1", component: "BODY", example: "Ada" },
      { name: "2", component: "BODY", example: "1842" },
    ],
  },
  create_otp_template: { name: "sign_in_code", button: "copy_code" },
  update_template: { template_data: { body: "Hello, your order is on its way." } },
  sync_templates: { inbox_id },
  create_cohort: {
    name: "Customers with the tag vip",
    query: { attribute: "tags", operator: "has_any", value: ["vip"] },
  },
  tag_contacts: {
    query: { attribute: "metadata.city", operator: "eq", value: "Hamburg" },
    add: ["north"],
  },
  update_cohort: { description: "For the offer of the autumn" },
  create_broadcast: {
    name: "Autumn offer",
    cohort_id,
    template_id,
    variable_mapping: { 1: { attribute: "name", default: "there" }, 2: { value: "1842" } },
  },
  update_broadcast: { scheduled_at: "2030-01-31T09:00:00Z" },
  execute_broadcast: { allow_partial: false },
  retry_broadcast: { scope: "failed", only_retryable: true },
  update_user: { role: "supervisor" },
  update_team: { description: "Questions about orders" },
  update_team_member: { is_available: true, skills: ["fr"] },
  create_routing_policy: {
    name: "French speakers",
    strategy: "skills_based",
    target_type: "team",
    target_id: team_id,
    settings: { required_skills: ["fr"] },
  },
  update_routing_policy: { priority: 10 },
  simulate_routing: { conversation_id },
  create_inbox: { name: "Support", phone_number: "+14155550100", channel: "simulator" },
  test_webhook: { event: "message.received" },
  react_to_message: { emoji: "👍" },
  connect_inbox: { pin: "123456" },
  update_inbox: { settings: { service_window: "strict" } },
  create_flow: {
    name: "Greeting",
    trigger_type: "keyword",
    trigger_keyword: "hello",
    end_action_type: "none",
    nodes,
  },
  update_flow: { priority: 10 },
  trigger_flow: { conversation_id },
  rehearse_flow: { nodes, message: "hello" },
  configure_chatbot: {
    graph_definition: { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] },
  },
  add_document: {
    name: "Returns",
    source_type: "markdown",
    content: "# Returns\n\nReturn any product within 30 days.",
  },
  update_document: { name: "Returns and refunds" },
  update_qa_pair: { answer: "Within 60 days, with the receipt." },
  upload_file: { url: "https://example.com/menu.pdf", file_name: "menu.pdf" },
  import_contacts: { url: "https://example.com/contacts.csv" },
  create_webhook: { url: "https://example.com/hooks", events: ["message.received", "message.failed"] },
  update_webhook: { is_active: true },
  update_organization: { time_zone: "Europe/Berlin", default_country: "DE" },
  create_api_key: { name: "Shop", scopes: ["contacts:read", "contacts:write", "inbox:write"] },
  plan_call: { operation: "delete_contact", input: { id: "con_01m7zc7d7bf9qbkz12jfyy9z77" } },
  set_rules: { mcp: { mode: "auto", approve: { recipients_above: 20, configure: true } } },
  set_api_key_rules: { rules: { mode: "auto", approve: { recipients_above: 20, configure: true } } },
  request_confirmation: { call: "Zq0c1PZb2nS0bq2l6mJ3iB8n1m3v7xq0dJt5y4w9u0E" },
  confirm_plan: {
    state: "q2vX0m1b.Zk3a.b9Qe",
    call: "Zq0c1PZb2nS0bq2l6mJ3iB8n1m3v7xq0dJt5y4w9u0E",
    answer: "accept",
  },
  run_plan: { version: 2 },
  amend_plan: { input: { text: { body: "Your order arrives tomorrow." } } },
  report_rejected_call: { tool: "create_flow", code: "insufficient_scope" },
  call_mcp_tool: { name: "list_contacts", arguments: { search: "Ada" } },
};

type DeepReadonly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
  : Value;
