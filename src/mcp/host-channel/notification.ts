/**
 * The notification for a contact's message, in the form of Claude Code's channels:
 * https://code.claude.com/docs/en/channels-reference.
 *
 * The host shows `content` inside a `<channel>` tag and `meta` as its attributes, so the texts of customers
 * are escaped: none can close the tag or add an attribute. The names of attributes have letters and
 * underscores alone, because the host drops others.
 */
import type { OutputOf } from "../../../tools/contract/index.ts";
import type { messages } from "../../../tools/messages/index.ts";

export type WaitingMessage = OutputOf<typeof messages.wait_for_message>["data"][number];

/** Who wrote a message. */
export interface Sender {
  readonly id: string;
  readonly name: string | null;
}

export interface ChannelNotification {
  readonly method: "notifications/claude/channel";
  readonly params: { readonly content: string; readonly meta: Readonly<Record<string, string>> };
}

export function createNotification(message: WaitingMessage, sender: Sender): ChannelNotification {
  const meta = {
    conversation_id: message.conversation_id,
    message_id: message.id,
    message_type: message.type,
    contact_id: sender.id,
    ...(sender.name === null ? {} : { contact_name: escapeAttribute(sender.name) }),
    received_at: message.created_at,
    ...(message.simulated ? { simulated: "true" } : {}),
    untrusted: "true",
  };
  return {
    method: "notifications/claude/channel",
    params: { content: escapeText(describeContent(message)), meta },
  };
}

/** What the contact wrote; the kind of a message without text in brackets. */
function describeContent({ type, text, media, reply, deleted_at }: WaitingMessage): string {
  if (deleted_at !== null) {
    return "[deleted]";
  }
  if (text) {
    return text.body;
  }
  if (reply) {
    return reply.title;
  }
  const kind = `[${type}${media?.file_name ? `: ${media.file_name}` : ""}]`;
  return media?.caption ? `${kind} ${media.caption}` : kind;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', "&quot;").replaceAll(/\s+/g, " ");
}
