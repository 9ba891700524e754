/**
 * What to know before a contact is written to: a block, an opt-out, a request to stop, a closed window, an
 * inbox that can't send.
 */
import type { z } from "zod";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import type { ContextWarning } from "../../../../../tools/messages/index.ts";
import type { InboxHealth } from "../../../../database/schema/index.ts";
import { type WindowRule, warnOfHealth } from "../../../account/inboxes/index.ts";
import { asksToStop, readConsent } from "../consent/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { blockedReason } from "./actions.ts";

interface WarningContext {
  readonly contact: { readonly opted_out: boolean; readonly blocked_at: string | null };
  readonly conversation: { readonly is_within_24h_window: boolean };
  readonly inbox: { readonly settings: Record<string, unknown>; readonly health: InboxHealth | null };
  readonly windowRule: WindowRule;
  /** The contact's latest message; undefined if the contact never wrote. */
  readonly received: Pick<MessageRow, "content"> | undefined;
}

type Warning = z.output<typeof ContextWarning>;

const healthWarnings = {
  inbox_stopped:
    "The inbox can't send at the moment: messages are queued until it can. list_inboxes shows why; tell a person.",
  inbox_unreachable:
    "The inbox's channel can't be reached at the moment: messages are queued and tried again. Don't send them twice.",
} as const;

/** The texts do not repeat what the contact wrote, which is not to be trusted. */
export function describeWarnings({
  contact,
  conversation,
  inbox,
  windowRule,
  received,
}: WarningContext): Warning[] {
  const { opted_out, blocked_at } = contact;
  const warnings: Warning[] = [];
  if (blocked_at !== null) {
    warnings.push({ code: "contact_blocked", message: blockedReason });
  }
  if (opted_out) {
    const message = "The contact opted out of marketing: send no marketing. Replies stay allowed.";
    warnings.push({ code: "opted_out", message });
  } else if (received && seemsToAskToStop(received.content, InboxSettings.parse(inbox.settings))) {
    const message =
      "The contact's latest message seems to ask for no more messages: ask the contact, or set opted_out with update_contact.";
    warnings.push({ code: "asks_to_stop", message });
  }
  // Where the window is strict, the actions say so.
  if (blocked_at === null && !conversation.is_within_24h_window && windowRule === "advisory") {
    const message =
      "The 24-hour window is closed: the simulated channel sends free text all the same, a real channel would not. Use send_template_message.";
    warnings.push({ code: "outside_service_window", message });
  }
  for (const code of warnOfHealth(inbox.health)) {
    warnings.push({ code, message: healthWarnings[code] });
  }
  return warnings;
}

/**
 * A stop word has changed the consent already, but only as a text: as a caption or a
 * button's title it does not.
 */
function seemsToAskToStop({ text, media, reply }: MessageRow["content"], settings: InboxSettings): boolean {
  return text
    ? readConsent(text.body, settings) !== true && asksToStop(text.body)
    : asksToStop(media?.caption ?? reply?.title ?? "");
}
