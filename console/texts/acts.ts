/** What an operation does, in words: with them an act is a sentence. */

/** The past of each verb. */
const past = {
  add: "added",
  answer: "answered",
  approve: "approved",
  assign: "assigned",
  call: "called",
  cancel: "cancelled",
  change: "changed",
  check: "checked",
  confirm: "confirmed",
  connect: "connected",
  create: "created",
  decline: "declined",
  delete: "deleted",
  describe: "described",
  end: "ended",
  execute: "executed",
  explain: "explained",
  find: "found",
  import: "imported",
  pause: "paused",
  plan: "planned",
  preview: "previewed",
  read: "read",
  recover: "recovered",
  refresh: "refreshed",
  rehearse: "rehearsed",
  remove: "removed",
  repeat: "repeated",
  replace: "replaced",
  request: "requested",
  resume: "resumed",
  retry: "retried",
  save: "saved",
  search: "searched",
  send: "sent",
  "sign in": "signed in",
  start: "started",
  submit: "submitted",
  subscribe: "subscribed",
  tag: "tagged",
  test: "tested",
  transfer: "transferred",
  try: "tried",
  turn: "turned",
  unassign: "unassigned",
  upload: "uploaded",
  verify: "verified",
  wait: "waited",
  withdraw: "withdrew",
} as const;

type Verb = keyof typeof past;

/** The kinds of records, by the start of their ids. */
export type RecordKind =
  | "bc"
  | "coh"
  | "con"
  | "conv"
  | "doc"
  | "flow"
  | "inb"
  | "key"
  | "plan"
  | "pol"
  | "qr"
  | "team"
  | "tpl"
  | "usr";

interface ActWords {
  readonly verb: Verb;
  readonly what: string;
  /** The record whose name follows the words. */
  readonly kind?: RecordKind;
  /** What stands before the name. */
  readonly joint?: string;
}

const named = (verb: Verb, what: string, kind: RecordKind, joint = ": "): ActWords => ({
  verb,
  what,
  kind,
  joint,
});
const plain = (verb: Verb, what: string): ActWords => ({ verb, what });

/** By the names of operations. */
export const actWords: Readonly<Record<string, ActWords>> = {
  create_contact: named("create", "a contact", "con"),
  list_contacts: plain("read", "contacts"),
  get_contact: named("read", "a contact", "con"),
  update_contact: named("change", "a contact", "con"),
  upsert_contact: named("save", "a contact", "con"),
  tag_contact: named("change", "the tags", "con", " of "),
  tag_contacts: plain("tag", "contacts"),
  delete_contact: named("delete", "a contact", "con"),
  import_contacts: plain("import", "contacts"),
  get_import: plain("read", "an import"),

  list_conversations: plain("read", "conversations"),
  get_conversation: named("read", "a conversation", "conv", " with "),
  get_conversation_context: named("read", "a conversation", "conv", " with "),
  update_conversation: named("change", "a conversation", "conv", " with "),
  assign_conversation: named("assign", "a conversation", "conv", " with "),
  unassign_conversation: named("unassign", "a conversation", "conv", " with "),
  transfer_conversation: named("transfer", "a conversation", "conv", " with "),
  list_assignments: named("read", "the assignments", "conv", " of the conversation with "),
  list_routing_decisions: named("read", "the routing", "conv", " of the conversation with "),
  get_inbox_report: plain("read", "the report of the inbox"),
  search_messages: plain("search", "messages"),
  list_messages: named("read", "messages", "conv", " with "),
  get_message: named("read", "a message", "conv", " with "),
  wait_for_message: plain("wait", "for a message"),
  send_message: named("send", "a message", "con", " to "),
  react_to_message: named("answer", "a message", "conv", " with a reaction, to "),
  explain_message: plain("explain", "a message"),
  view_media: plain("read", "a file of a message"),
  add_note: named("add", "a note", "conv", " about "),
  list_notes: named("read", "the notes", "conv", " about "),
  create_quick_reply: named("create", "a quick reply", "qr"),
  list_quick_replies: plain("read", "quick replies"),
  get_quick_reply: named("read", "a quick reply", "qr"),
  update_quick_reply: named("change", "a quick reply", "qr"),
  delete_quick_reply: named("delete", "a quick reply", "qr"),

  create_template: named("create", "a template", "tpl"),
  create_otp_template: named("create", "a template for codes", "tpl"),
  list_templates: plain("read", "templates"),
  get_template: named("read", "a template", "tpl"),
  update_template: named("change", "a template", "tpl"),
  submit_template: named("submit", "a template", "tpl"),
  sync_templates: plain("refresh", "templates"),
  delete_template: named("delete", "a template", "tpl"),
  create_cohort: named("create", "a cohort", "coh"),
  list_cohorts: plain("read", "cohorts"),
  get_cohort: named("read", "a cohort", "coh"),
  list_cohort_members: named("read", "the members", "coh", " of "),
  preview_cohort: plain("preview", "a cohort"),
  update_cohort: named("change", "a cohort", "coh"),
  delete_cohort: named("delete", "a cohort", "coh"),
  describe_attributes: plain("read", "the attributes of contacts"),
  declare_attribute: plain("add", "an attribute of contacts"),
  undeclare_attribute: plain("remove", "an attribute of contacts"),
  create_broadcast: named("create", "a broadcast", "bc"),
  list_broadcasts: plain("read", "broadcasts"),
  get_broadcast: named("read", "a broadcast", "bc"),
  update_broadcast: named("change", "a broadcast", "bc"),
  delete_broadcast: named("delete", "a broadcast", "bc"),
  execute_broadcast: named("send", "a broadcast", "bc"),
  pause_broadcast: named("pause", "a broadcast", "bc"),
  resume_broadcast: named("resume", "a broadcast", "bc"),
  cancel_broadcast: named("cancel", "a broadcast", "bc"),
  retry_broadcast: named("retry", "a broadcast", "bc"),
  estimate_broadcast: named("read", "what a broadcast would cost", "bc"),
  test_broadcast: named("test", "a broadcast", "bc"),
  list_broadcast_recipients: named("read", "the recipients", "bc", " of "),
  get_broadcast_metrics: named("read", "the counts", "bc", " of "),
  wait_for_broadcast: named("wait", "for a broadcast", "bc"),

  list_users: plain("read", "people"),
  create_user: named("add", "a person", "usr"),
  update_user: named("change", "a person", "usr"),
  create_team: named("create", "a team", "team"),
  list_teams: plain("read", "teams"),
  get_team: named("read", "a team", "team"),
  update_team: named("change", "a team", "team"),
  delete_team: named("delete", "a team", "team"),
  add_team_member: named("add", "a member", "team", " to "),
  list_team_members: named("read", "the members", "team", " of "),
  update_team_member: named("change", "a member", "team", " of "),
  remove_team_member: named("remove", "a member", "team", " of "),
  create_routing_policy: named("create", "a routing policy", "pol"),
  list_routing_policies: plain("read", "routing policies"),
  get_routing_policy: named("read", "a routing policy", "pol"),
  update_routing_policy: named("change", "a routing policy", "pol"),
  delete_routing_policy: named("delete", "a routing policy", "pol"),
  simulate_routing: plain("try", "the routing"),
  list_inboxes: plain("read", "inboxes"),
  create_inbox: named("create", "an inbox", "inb"),
  update_inbox: named("change", "an inbox", "inb"),
  check_inbox: named("check", "an inbox", "inb"),
  connect_inbox: named("connect", "an inbox", "inb"),

  describe_flow_nodes: plain("read", "the kinds of flow nodes"),
  create_flow: named("create", "a flow", "flow"),
  list_flows: plain("read", "flows"),
  get_flow: named("read", "a flow", "flow"),
  update_flow: named("change", "a flow", "flow"),
  delete_flow: named("delete", "a flow", "flow"),
  toggle_flow: named("turn", "a flow on or off", "flow"),
  trigger_flow: named("start", "a flow", "flow"),
  rehearse_flow: plain("rehearse", "a flow"),
  list_flow_runs: plain("read", "the runs of flows"),
  get_flow_run: plain("read", "a run of a flow"),
  cancel_flow_run: plain("cancel", "a run of a flow"),
  chat_with_bot: plain("try", "the chatbot"),
  configure_chatbot: plain("change", "the chatbot"),
  get_chatbot_config: plain("read", "the settings of the chatbot"),
  get_chatbot_status: plain("read", "the state of the chatbot"),
  add_document: named("add", "a document", "doc"),
  list_documents: plain("read", "documents"),
  get_document: named("read", "a document", "doc"),
  update_document: named("change", "a document", "doc"),
  delete_document: named("delete", "a document", "doc"),
  refresh_document: named("refresh", "a document", "doc"),
  add_qa_pair: plain("add", "a question with its answer"),
  list_qa_pairs: plain("read", "questions with their answers"),
  get_qa_pair: plain("read", "a question with its answer"),
  update_qa_pair: plain("change", "a question with its answer"),
  delete_qa_pair: plain("delete", "a question with its answer"),
  search_knowledge_base: plain("search", "the knowledge base"),
  upload_file: plain("upload", "a file"),
  list_uploads: plain("read", "uploads"),
  get_upload: plain("read", "an upload"),
  delete_upload: plain("delete", "an upload"),

  create_webhook: plain("create", "a webhook"),
  list_webhooks: plain("read", "webhooks"),
  get_webhook: plain("read", "a webhook"),
  update_webhook: plain("change", "a webhook"),
  delete_webhook: plain("delete", "a webhook"),
  test_webhook: plain("test", "a webhook"),
  rotate_webhook_secret: plain("replace", "the secret of a webhook"),
  list_webhook_deliveries: plain("read", "the deliveries of a webhook"),
  replay_webhook_delivery: plain("repeat", "a delivery of a webhook"),
  recover_webhook_deliveries: plain("recover", "deliveries of a webhook"),
  list_events: plain("read", "events"),
  get_subscription: plain("read", "the subscription"),
  subscribe_chatbot_addon: plain("subscribe", "to the chatbot add-on"),
  cancel_chatbot_addon: plain("cancel", "the chatbot add-on"),
  get_chatbot_addon: plain("read", "the chatbot add-on"),
  create_payment_order: plain("create", "a payment order"),
  verify_payment: plain("verify", "a payment"),
  list_payments: plain("read", "payments"),
  get_wallet: plain("read", "the wallet"),
  list_ledger_entries: plain("read", "the ledger"),
  get_spend: plain("read", "what was spent"),
  get_pricing: plain("read", "prices"),

  get_organization: plain("read", "the organization"),
  update_organization: plain("change", "the organization"),
  create_api_key: named("create", "an API key", "key"),
  list_api_keys: plain("read", "API keys"),
  set_api_key_rules: named("change", "the rules", "key", " of the key "),
  delete_api_key: named("end", "an API key", "key"),
  login: plain("sign in", ""),
  change_password: plain("change", "their password"),
  change_email: plain("change", "their e-mail address"),
  update_profile: plain("change", "their name"),
  refresh: plain("refresh", "a sign-in"),
  list_console_sessions: plain("read", "their sessions"),
  end_console_session: plain("end", "one of their sessions"),
  end_other_console_sessions: plain("end", "their other sessions"),
  whoami: plain("read", "what the credential may do"),
  plan_call: named("plan", "a call", "plan"),
  run_plan: named("execute", "a plan", "plan"),
  approve_plan: named("approve", "a plan", "plan"),
  decline_plan: named("decline", "a plan", "plan"),
  request_confirmation: named("request", "a confirmation", "plan", " of "),
  confirm_plan: named("answer", "a confirmation", "plan", " of "),
  wait_for_plan: named("wait", "for a plan", "plan"),
  list_plans: plain("read", "plans"),
  get_plan: named("read", "a plan", "plan"),
  amend_plan: named("change", "a plan", "plan"),
  withdraw_plan: named("withdraw", "a plan", "plan"),
  list_activity: plain("read", "the activity"),
  list_read_counts: plain("read", "how much was read"),
  list_mcp_tools: plain("read", "the tools"),
  call_mcp_tool: plain("call", "a tool"),
  report_rejected_call: plain("save", "that a call of a tool was rejected"),
  get_rules: plain("read", "the rules"),
  set_rules: plain("change", "the rules for everybody"),
};

/** The command of the machine, or the operation that has no words here. */
const unknown = (operation: string): ActWords => plain("call", operation);

const starts = {
  done: ({ verb }: ActWords) => past[verb],
  waiting: ({ verb }: ActWords) => `asked to ${verb}`,
  refused: ({ verb }: ActWords) => `tried to ${verb}`,
} as const;

/**
 * Like `Sent a message to Ada`.
 *
 * @param name of the record; empty: unknown
 */
export function describeAct(operation: string, outcome: keyof typeof starts, name: string): string {
  const entry = actWords[operation] ?? unknown(operation);
  const start = starts[outcome](entry);
  const text = [start.charAt(0).toUpperCase() + start.slice(1), entry.what].filter(Boolean).join(" ");
  return name === "" ? text : `${text}${entry.joint ?? ": "}${name}`;
}
