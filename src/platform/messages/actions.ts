/**
 * What may be done with a conversation now, by the names of the house's tools, and what to do instead where
 * it may not. The rules stand in the order in which they are told; a tool that is not built is left out.
 */

import { describeRule, permits } from "../../../tools/contract/index.ts";
import type { ConversationStatus } from "../../../tools/conversations.ts";
import { isBsuid } from "../contacts/index.ts";
import { settable } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import type { Caller, World } from "../kernel/index.ts";

export interface Situation {
  readonly conversation: {
    readonly status: ConversationStatus;
    readonly assigned_to: string | null;
    readonly is_within_24h_window: boolean;
    readonly window_expires_at: string | null;
  };
  readonly contact: { readonly phone_number: string | null; readonly bsuid: string | null };
  readonly inbox: Parameters<typeof isWindowStrict>[0];
  readonly tools: World["tools"];
}

/** Why it may not be done in this situation, and what to do instead; undefined when it may. */
type Rule = (situation: Situation) => string | undefined;

const always: Rule = () => undefined;

/** Whoever hides the number is written to by the id that the channel gives them. */
const withAddress: Rule = ({ contact }) =>
  contact.phone_number === null && !isBsuid(contact.bsuid ?? "")
    ? "The contact has neither a phone number nor a bsuid: wait until they write, with wait_for_message."
    : undefined;

const inWindow: Rule = (situation) => {
  const { conversation, inbox, tools } = situation;
  if (withAddress(situation) || conversation.is_within_24h_window || !isWindowStrict(inbox)) {
    return withAddress(situation);
  }
  const { window_expires_at } = conversation;
  const state =
    window_expires_at === null
      ? "The contact has never written, so the 24-hour window is closed"
      : `The 24-hour window closed at ${window_expires_at}`;
  const template = tools.has("send_template_message") ? "use send_template_message, or " : "";
  return `${state}: ${template}wait until the contact writes, with wait_for_message.`;
};

const withAgent: Rule = ({ conversation }) =>
  conversation.assigned_to === null ? "Nobody is assigned: use assign_conversation." : undefined;

const rules: Readonly<Record<string, Rule>> = {
  send_message: inWindow,
  send_media_message: inWindow,
  send_interactive_message: inWindow,
  send_template_message: withAddress,
  wait_for_message: always,
  assign_conversation: always,
  transfer_conversation: withAgent,
  unassign_conversation: always,
  update_conversation: always,
  update_contact: always,
  tag_contact: always,
};

export function describeActions(situation: Situation, { scopes }: Caller) {
  const { status } = situation.conversation;
  return Object.entries(rules).flatMap(([tool, rule]) => {
    const operation = situation.tools.get(tool);
    if (!operation) {
      return [];
    }
    const { scope } = operation;
    const lack =
      scope === null || permits(scopes, scope)
        ? undefined
        : `This credential lacks the scope ${describeRule(scope)}: use one that has it.`;
    const reason = lack ?? rule(situation) ?? null;
    const statuses =
      tool === "update_conversation" ? { statuses: settable[status].filter((one) => one !== status) } : {};
    return [{ tool, is_allowed: reason === null, reason, ...statuses }];
  });
}
