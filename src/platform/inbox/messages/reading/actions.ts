/**
 * Lists what may be done with a conversation now, by tool name, and what to do instead of what may not.
 *
 * The rules are in the order in which they are returned. A tool that is not implemented, or would change
 * nothing, is left out.
 */

import { describeRule, permits } from "../../../../../tools/contract/index.ts";
import type { ConversationStatus } from "../../../../../tools/conversations.ts";
import { messages } from "../../../../../tools/messages/index.ts";
import { allowedOperations, permitsOperation } from "../../../../../tools/rule-operations.ts";
import type { Channel } from "../../../../ports/channel/channel.ts";
import type { WindowRule } from "../../../account/inboxes/index.ts";
import type { Caller, World } from "../../../foundation/kernel/index.ts";
import { allowedStatuses } from "../../conversations/index.ts";

export interface ActionContext {
  readonly conversation: {
    readonly status: ConversationStatus;
    readonly assigned_to: string | null;
    readonly queued_at: string | null;
    readonly is_within_24h_window: boolean;
    readonly window_expires_at: string | null;
  };
  readonly contact: { readonly blocked_at: string | null };
  /** Whether the contact has an address on the channel. */
  readonly isReachable: boolean;
  readonly channel: Channel;
  readonly windowRule: WindowRule;
  readonly tools: World["tools"];
}

/**
 * Returns why the tool may not be used and what to do instead; undefined if it may. Null leaves the tool out:
 * its call would be accepted and change nothing.
 */
type Rule = (context: ActionContext) => string | null | undefined;

export const blockedReason =
  "The contact is blocked and gets no message by any path: unblock with update_contact only if the contact agreed.";

const always: Rule = () => undefined;

const requiresRecipient: Rule = ({ contact, isReachable }) => {
  if (contact.blocked_at !== null) {
    return blockedReason;
  }
  return isReachable
    ? undefined
    : "The contact has no address on this channel: wait until they write, with wait_for_message.";
};

const requiresWindow: Rule = (context) => {
  const { conversation, windowRule } = context;
  const recipientReason = requiresRecipient(context);
  if (recipientReason !== undefined || conversation.is_within_24h_window || windowRule !== "strict") {
    return recipientReason;
  }
  const { window_expires_at } = conversation;
  const state =
    window_expires_at === null
      ? "The contact has never written, so the 24-hour window is closed"
      : `The 24-hour window closed at ${window_expires_at}`;
  return `${state}: use send_template_message with the id of the conversation as to, or wait until the contact writes, with wait_for_message.`;
};

/** `can` decides by the channel; a message of any other kind may be possible. */
const requiresChannel =
  (can: (channel: Channel) => boolean, content: string, rule: Rule): Rule =>
  (context) =>
    can(context.channel)
      ? rule(context)
      : `The channel of this inbox can't send ${content}: send another kind of message.`;

const hasMedia = ({ capabilities }: Channel) => Object.keys(capabilities.media).length > 0;
const hasChoices = ({ capabilities }: Channel) => capabilities.interactive !== null;
const hasTemplates = ({ templates }: Channel) => templates !== undefined;

const requiresAgent: Rule = ({ conversation }) =>
  conversation.assigned_to === null ? "No agent is assigned: use assign_conversation." : undefined;

/** Of a conversation without an agent, it ends the search for one. */
const requiresAgentOrQueue: Rule = ({ conversation: { assigned_to, queued_at } }) =>
  assigned_to === null && queued_at === null ? null : undefined;

const rules: Readonly<Record<string, Rule>> = {
  send_message: requiresWindow,
  send_media_message: requiresChannel(hasMedia, "files", requiresWindow),
  send_interactive_message: requiresChannel(hasChoices, "buttons and lists", requiresWindow),
  send_template_message: requiresChannel(hasTemplates, "templates", requiresRecipient),
  wait_for_message: always,
  assign_conversation: always,
  transfer_conversation: requiresAgent,
  unassign_conversation: requiresAgentOrQueue,
  update_conversation: always,
  update_contact: always,
  tag_contact: always,
};

export function describeActions(context: ActionContext, { scopes, rules: bound }: Caller) {
  const { status } = context.conversation;
  const allowed = allowedOperations(bound);
  return Object.entries(rules).flatMap(([tool, rule]) => {
    const operation = context.tools.get(tool);
    if (!operation) {
      return [];
    }
    const obstacle = rule(context);
    if (obstacle === null) {
      return [];
    }
    const { scope } = operation;
    const isPermitted = scope === null || permits(scopes, scope);
    // The other tools have the names of their operations.
    const name = operation === messages.send_message ? "send_message" : tool;
    const ownReason = permitsOperation(allowed, name)
      ? (obstacle ?? null)
      : `The rules of this credential do not allow ${name}: ask a signed-in person.`;
    const reason = isPermitted
      ? ownReason
      : `This credential does not have the scope ${describeRule(scope)}: use one that has it.`;
    const statuses =
      tool === "update_conversation"
        ? { statuses: allowedStatuses[status].filter((allowed) => allowed !== status) }
        : {};
    return [{ tool, is_allowed: reason === null, reason, ...statuses }];
  });
}
