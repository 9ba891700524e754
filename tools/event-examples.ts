/** An example of every public event, for the reference and the OpenAPI document. */
import type { EventData, PublicEventName } from "./events.ts";

interface Example<Name extends PublicEventName> {
  /** What causes the event. */
  readonly when: string;
  readonly data: EventData<Name>;
}

const received = {
  message_id: "msg_01m7zcbtpeenvv4ztq2z3c4dde",
  conversation_id: "conv_01m7zc81jrfw9sby55r6c48xyx",
};
const sent = {
  message_id: "msg_01m7zce7ygfmga3sxfx1121491",
  conversation_id: "conv_01m7zc81jrfw9sby55r6c48xyx",
  to: "+14155550123",
  type: "text",
} as const;

const assistant = { type: "api_key", id: "key_01m7zc7d7bf9qbkz12jfyy9z80", name: "Assistant" } as const;
const service = { type: "system", id: "system", name: "Tidings" } as const;
const conversation = {
  conversation_id: received.conversation_id,
  contact_id: "con_01m7zc81jq1d3bq0c4k8p7x2ms",
  inbox_id: "inb_01m7zc7d7bf9qbkz12jfyy9z79",
  status: "open",
  assigned_to: null,
  team_id: null,
  actor: service,
} as const;
const plan = { plan_id: "plan_01m7zc9x1yf2tr5p3h2k8w6m4q", operation: "execute_broadcast" } as const;
const agent = "usr_01m7zc7d7bf9qbkz12jfyy9z78";
const broadcast = {
  broadcast_id: "bc_01m7zc7d7bf9qbkz12jfyy9z79",
  name: "Autumn offer",
  stats: { total: 1200, sent: 0, delivered: 0, read: 0, failed: 0 },
};
const import_id = "imp_01m7zc9x1yf2tr5p3h2k8w6m4q";
const payment = {
  payment_id: "pmt_01m7zc9x1yf2tr5p3h2k8w6m4q",
  processor_order_id: "order_NXhj2r0gWz",
  processor_payment_id: "pay_NXhkWz5b2t",
  amount: 50,
  currency: "USD",
  status: "captured",
  amount_refunded: 0,
  simulated: false,
} as const;

/** Every public event: what causes it, and its data. */
export const eventExamples: { readonly [Name in PublicEventName]: Example<Name> } = {
  "message.received": {
    when: "A contact wrote. `text` is present for text messages only; read the rest with `get_message`.",
    data: { ...received, from: "+14155550123", type: "text", text: { body: "Is my order on its way?" } },
  },
  "message.sent": {
    when: "The channel accepted an outbound message.",
    data: { ...sent, status: "sent", timestamp: "2026-11-21T15:43:45.129Z", sequence: 1 },
  },
  "message.delivered": {
    when: "The message reached the contact's phone.",
    data: { ...sent, status: "delivered", timestamp: "2026-11-21T15:43:45.277Z", sequence: 3 },
  },
  "message.read": {
    when: "The contact read the message.",
    data: { ...sent, status: "read", timestamp: "2026-11-21T15:43:46.135Z", sequence: 4 },
  },
  "message.failed": {
    when: "The message will not be delivered. `error` says why, and `retryable` whether sending it again can help.",
    data: {
      ...sent,
      status: "failed",
      timestamp: "2026-11-21T15:43:44.227Z",
      sequence: 2,
      error: {
        code: "undeliverable",
        channel_code: 131026,
        title: "Message undeliverable",
        detail: null,
        retryable: false,
        hint: "The number may not be registered with this channel; check it with the contact.",
      },
    },
  },
  "message.reaction": {
    when: "The contact reacted to a message, or removed the reaction: `emoji` is null.",
    data: {
      message_id: sent.message_id,
      conversation_id: sent.conversation_id,
      from: "+14155550123",
      emoji: "👍",
      timestamp: "2026-11-21T15:43:50.000Z",
    },
  },
  "message.edited": {
    when: "The contact changed the text or caption of a message, or deleted it: then `deleted_at` is set. `text` is present for text messages that were not deleted.",
    data: {
      ...received,
      from: "+14155550123",
      type: "text",
      text: { body: "Is my order of Monday on its way?" },
      edited_at: "2026-11-21T15:43:55.000Z",
      deleted_at: null,
    },
  },
  "note.created": {
    when: "A person, an assistant or a flow added an internal note to a conversation.",
    data: {
      note_id: "note_01m7zcg4j8h7k2v5m9t3x1w6pq",
      conversation_id: "conv_01m7zc81jrfw9sby55r6c48xyx",
      text: "Wants the invoice by Friday.",
      author: assistant,
      mentions: [],
      created_at: "2026-11-21T15:43:46.000Z",
    },
  },
  "inbox.health": {
    when: "An inbox can't send any more, and its messages wait (`stopped`), its channel does not answer (`unreachable`), or it can send again (`ok`). Sent once for each change; `code` and `reason` are the channel's, `null` with `ok`.",
    data: {
      inbox_id: "inb_01m7zc7d7bf9qbkz12jfyy9z79",
      status: "stopped",
      code: 190,
      reason: "The access token has expired",
    },
  },
  "inbox.alert": {
    when: "Meta reports a problem of an account: a restriction, a violation, a lock, a removal, a rejected display name. `advice` says what to do. The same report within 24 hours is sent once.",
    data: {
      inbox_id: "inb_01m7zc7d7bf9qbkz12jfyy9z79",
      type: "ACCOUNT_RESTRICTION",
      title: "Meta has restricted the account: RESTRICTED_BIZ_INITIATED_MESSAGING",
      advice:
        "Read the reason in WhatsApp Manager under Account quality, and request a review there if it is wrong.",
      reported_at: "2026-11-21T15:43:46.000Z",
    },
  },
  "broadcast.not_started": {
    when: "A scheduled broadcast was not sent: it failed, for example with `insufficient_funds`, and can be executed or scheduled again; or it is paused with `missed_schedule`, because the service was down at its time.",
    data: {
      broadcast_id: "bc_01m7zc7d7bf9qbkz12jfyy9z79",
      name: "Autumn offer",
      scheduled_at: "2026-11-21T09:00:00.000Z",
      execution_status: "failed",
      reason: "insufficient_funds",
    },
  },
  "broadcast.started": {
    when: "The messages of a broadcast are being sent: it was executed, resumed or retried.",
    data: broadcast,
  },
  "broadcast.paused": {
    when: "A broadcast sends no more messages until it is resumed: a person requested it, or the service did, for `reason`.",
    data: {
      ...broadcast,
      stats: { total: 1200, sent: 240, delivered: 205, read: 31, failed: 12 },
      reason: "too_many_failures",
    },
  },
  "broadcast.completed": {
    when: "Each recipient's message was accepted by the channel, or failed. Receipts of deliveries may still arrive: `get_broadcast` has the present counts.",
    data: { ...broadcast, stats: { total: 1200, sent: 1188, delivered: 1019, read: 402, failed: 12 } },
  },
  "broadcast.cancelled": {
    when: "A broadcast was cancelled. Messages that were sent before are not called back.",
    data: { ...broadcast, stats: { total: 240, sent: 240, delivered: 205, read: 31, failed: 0 } },
  },
  "wallet.low_balance": {
    when: "Less is available than the organization's `low_balance_threshold`. Sent once, and again only after it was above; for the real and, where it was ever used, the `simulated` money. With the `mode` `off` messages are sent all the same.",
    data: {
      currency: "USD",
      balance: 21.4,
      held: 2.16,
      available: 19.24,
      mode: "block",
      threshold: 20,
      simulated: false,
    },
  },
  "flow.disabled": {
    when: "A flow was switched off and its active runs were cancelled, because the user who saved it has lost a scope that it needs. Save it again, or enable it, as a user who has the scopes.",
    data: {
      flow_id: "flow_01m7zc9x1yf2tr5p3h2k8w6m4q",
      name: "Tag new leads",
      missing_scopes: ["contacts:manage"],
    },
  },
  "flow.run_failed": {
    when: "A run of a flow ended with an error. `get_flow_run` shows its steps.",
    data: {
      run_id: "run_01m7zc9x1yf2tr5p3h2k8w6m4q",
      flow_id: "flow_01m7zc9x1yf2tr5p3h2k8w6m4q",
      conversation_id: conversation.conversation_id,
      contact_id: conversation.contact_id,
      reason: "http_timeout",
    },
  },
  "conversation.created": {
    when: "A contact has a first conversation with an inbox. One that a broadcast or a schedule begins is not reported: it is pending until the contact writes, which causes `conversation.opened`.",
    data: conversation,
  },
  "conversation.opened": {
    when: "A conversation that was closed, pending, snoozed or spam is open again.",
    data: conversation,
  },
  "conversation.assigned": {
    when: "A conversation has another agent than before, by routing, by hand or by a flow.",
    data: { ...conversation, assigned_to: agent, team_id: "team_01m7zc7d7bf9qbkz12jfyy9z81" },
  },
  "conversation.unassigned": {
    when: "A conversation has no agent any more.",
    data: { ...conversation, actor: assistant },
  },
  "conversation.closed": {
    when: "A conversation was closed.",
    data: { ...conversation, status: "closed", assigned_to: agent, actor: assistant },
  },
  "conversation.updated": {
    when: "The tags, marks or status of a conversation were changed by `update_conversation` or a flow, also to snoozed, pending and spam. `fields` names what changed. That a conversation is closed or open again is `conversation.closed` or `conversation.opened` too.",
    data: { ...conversation, status: "snoozed", actor: assistant, fields: ["status"] },
  },
  "contact.created": {
    when: "A contact wrote for the first time, or was added. The contacts of an import are not reported one by one: see `import.completed`.",
    data: {
      contact_id: conversation.contact_id,
      phone_number: "+14155550123",
      name: "Ada Lovelace",
      actor: service,
    },
  },
  "contact.tag_added": {
    when: "A person, an assistant or a flow gave a contact tags that it did not have. The tags of an import are not reported.",
    data: { contact_id: conversation.contact_id, tags: ["vip"], actor: assistant },
  },
  "contact.updated": {
    when: "The name, attributes, tags, marketing consent, block or number of a contact was changed: by a person, an assistant, a flow, a stop word or the channel. `fields` names what was set. Changes by an import are not reported.",
    data: {
      contact_id: conversation.contact_id,
      fields: ["opted_out"],
      opted_out: true,
      blocked: false,
      actor: service,
    },
  },
  "template.status_changed": {
    when: "A template was submitted, approved, rejected, paused or disabled, or became a draft by a change.",
    data: {
      template_id: "tpl_01m7zc9x1yf2tr5p3h2k8w6m4q",
      inbox_id: conversation.inbox_id,
      name: "autumn_offer",
      language: "en",
      category: "marketing",
      status: "rejected",
      previous_status: "pending",
      rejection_reason: "INVALID_FORMAT",
    },
  },
  "import.started": { when: "An import of contacts reads its file.", data: { import_id } },
  "import.completed": {
    when: "An import of contacts has read its whole file. `get_import` lists the rejected rows.",
    data: { import_id, total: 1200, created: 980, updated: 215, rejected: 5 },
  },
  "import.failed": {
    when: "An import of contacts can't read its file further, for the reason in `failure`. The rows before that point are imported.",
    data: {
      import_id,
      total: 0,
      created: 0,
      updated: 0,
      rejected: 0,
      failure: "The file no longer exists: upload it again.",
    },
  },
  "payment.captured": {
    when: "The processor took the money of a payment. `credited` says whether the wallet got it.",
    data: { ...payment, credited: true },
  },
  "payment.failed": {
    when: "A payment failed at the processor. The payer may try again, for the same order.",
    data: { ...payment, status: "failed" },
  },
  "payment.refunded": {
    when: "A payment was returned to its payer, or a part of it: `amount_refunded` is the sum of all refunds.",
    data: { ...payment, status: "refunded", amount_refunded: 50 },
  },
  "plan.awaiting": {
    when: "A plan waits for a person: the rules of who asked for it say so.",
    data: plan,
  },
  "plan.released": {
    when: "A person released a plan, and it ran, or its call to another service began.",
    data: plan,
  },
  "plan.declined": {
    when: "A person declined a plan. It never runs.",
    data: plan,
  },
  "plan.run": {
    when: "A plan ran, released by a person or not.",
    data: plan,
  },
  "plan.failed": {
    when: "A plan's call to another service failed, or its outcome is unknown. It does not run again.",
    data: plan,
  },
  "plan.expired": {
    when: "A plan was not run within 24 hours. The event follows within minutes.",
    data: plan,
  },
};

/** The data of an example that is sent: `test` tells it from a real event. */
export function testDataOf(type: PublicEventName) {
  return { ...eventExamples[type].data, test: true as const };
}

/** The members that every event has beside its type and its data. */
export const eventEnvelope = {
  id: "evt_01m7zce7zaexnr9vyr7gw3m5m2",
  created_at: "2026-11-21T15:43:46.200Z",
  organization_id: "org_01m7zc7d7bf9qbkz12jfyy9z78",
} as const;
