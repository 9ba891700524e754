/** docs/reference/events.md: every public event with an example of its body. */
import { toDeliveryError } from "../../src/platform/inbox/messages/failures.ts";
import { type EventData, publicEvents } from "../../tools/events.ts";
import { code, json, type Page } from "./markdown.ts";

type Name = keyof typeof publicEvents;

interface Example<Of extends Name> {
  readonly when: string;
  readonly data: EventData<Of>;
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

const examples: { readonly [Of in Name]: Example<Of> } = {
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
      error: toDeliveryError({
        reason: "undeliverable",
        channel_code: 131026,
        title: "Message undeliverable",
        detail: null,
      }),
    },
  },
  "message.reaction": {
    when: "The contact reacted to a message, or removed the reaction: `emoji` is null. See [replies, reactions and edits](../whatsapp.md#replies-reactions-and-edits).",
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
      author: { type: "api_key", id: "key_01m7zc7d7bf9qbkz12jfyy9z80", name: "Assistant" },
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
};

export function eventsPage(): Page {
  const names = Object.keys(publicEvents) as Name[]; // the keys of a literal
  const body = `# Events

Webhooks deliver these events, and \`GET /v1/events\` lists them. \`id\` is the same in every delivery of an event. \`sequence\` rises with each event of one message and may skip numbers. A webhook needs the scope of each of its events when it is created or changed. [webhooks.md](../webhooks.md) describes delivery and signatures.

${names.map(section).join("\n\n")}`;
  return { source: "tools/events.ts", body };
}

/** @throws ZodError if an example does not match its schema. */
function section(name: Name): string {
  const { when, data } = examples[name];
  const event = {
    id: "evt_01m7zce7zaexnr9vyr7gw3m5m2",
    created_at: "2026-11-21T15:43:46.200Z",
    type: name,
    organization_id: "org_01m7zc7d7bf9qbkz12jfyy9z78",
    data: publicEvents[name].data.strict().parse(data),
  };
  return `## ${code(name)}\n\n${when} Scope: ${code(publicEvents[name].scope)}.\n\n${json(event)}`;
}
