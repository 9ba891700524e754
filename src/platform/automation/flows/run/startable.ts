/** Whether a flow may start in a conversation. */
import { fail } from "../../../../../tools/errors.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { lostScopes } from "../authority/index.ts";
import type { FlowWithVersion } from "../find.ts";

/** @throws Failure `flow_disabled`, `flow_not_startable`. */
export function requireStartable(
  { is_enabled, inbox_id, ...authority }: FlowWithVersion,
  conversation: Pick<ConversationRow, "inbox_id" | "status">,
): void {
  if (!is_enabled || lostScopes(authority).length > 0) {
    throw fail("flow_disabled");
  }
  if (inbox_id !== null && inbox_id !== conversation.inbox_id) {
    throw fail("flow_not_startable", { reason: "it is restricted to another inbox." });
  }
  if (conversation.status === "spam") {
    throw fail("flow_not_startable", { reason: "the conversation is spam." });
  }
}
