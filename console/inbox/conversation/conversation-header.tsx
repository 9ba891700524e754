/** Who the conversation is with, and what can be done with it. */
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../controls/icon.tsx";
import { Menu } from "../../controls/menu.tsx";
import { texts } from "../../texts.ts";
import { formatMoment, formatTimeLeft } from "../../time.ts";
import { changeConversation, markSpam, type SnoozeTime, setClosed, snooze, snoozeTimes } from "../acts.ts";
import { nameOf } from "../names.ts";
import { AssignMenu } from "../panel/assign-menu.tsx";
import type { Context } from "./open-conversation.ts";

interface Props {
  readonly context: Context;
  readonly onLeave: () => void;
  readonly onChange: () => void;
  readonly isPanelOpen: boolean;
  readonly onTogglePanel: () => void;
}

export function ConversationHeader({ context, onLeave, onChange, isPanelOpen, onTogglePanel }: Props) {
  const { conversation } = context;
  const { status } = conversation;
  const isClosed = status === "closed" || status === "spam";
  const heading = useRef<HTMLHeadingElement>(null);
  // On a narrow screen the list is gone, and with it the row that had the focus.
  useEffect(() => {
    if (isNarrow() && document.activeElement === document.body) {
      heading.current?.focus();
    }
  }, []);
  return (
    <header class="conversation-header">
      <button type="button" class="plain icon leave" aria-label={texts.conversation.back} onClick={onLeave}>
        <Icon name="back" />
      </button>
      <h2 ref={heading} tabIndex={-1} class="conversation-name" title={nameOf(context)}>
        {nameOf(context)}
      </h2>
      <div class="row">
        <AssignMenu context={context} onChange={onChange} />
        <button
          type="button"
          data-key="e"
          onClick={() => void setClosed(conversation, !isClosed, onChange)}
          title={isClosed ? texts.conversation.reopen : texts.close}
          aria-label={isClosed ? texts.conversation.reopen : texts.close}
        >
          <Icon name={isClosed ? "reopen" : "archive"} size={18} />
          <span class="wide-only">{isClosed ? texts.conversation.reopen : texts.close}</span>
        </button>
        <MoreMenu context={context} onChange={onChange} />
        <button
          type="button"
          class="icon"
          aria-label={texts.panel.title}
          title={texts.panel.title}
          aria-pressed={isPanelOpen}
          onClick={onTogglePanel}
        >
          <Icon name="info" />
        </button>
      </div>
      <p class="small muted conversation-state">
        {describeState(context).map((part, index) => (
          <span key={index}>
            {index > 0 && " · "}
            <bdi>{part}</bdi>
          </span>
        ))}
      </p>
    </header>
  );
}

function isNarrow(): boolean {
  return matchMedia("(max-width: 680px)").matches;
}

function MoreMenu({ context, onChange }: Pick<Props, "context" | "onChange">) {
  const { id, is_favorite, is_unread, status } = context.conversation;
  const change = async (changes: Parameters<typeof changeConversation>[1]) => {
    if (await changeConversation(id, changes)) {
      onChange();
    }
  };
  const statuses = context.actions.find(({ tool }) => tool === "update_conversation")?.statuses ?? [];
  return (
    <Menu label={texts.more} class="icon" button={<Icon name="more" />}>
      {status === "snoozed" && (
        <button type="button" onClick={() => void setClosed(context.conversation, false, onChange)}>
          {texts.conversation.wake}
        </button>
      )}
      {statuses.includes("snoozed") && (
        <>
          <h3>{texts.conversation.snooze}</h3>
          {snoozeNames.map((time) => (
            <button
              type="button"
              key={time}
              onClick={() => void snooze(context.conversation, time, onChange)}
            >
              {texts.conversation.snoozeTimes[time]}
            </button>
          ))}
        </>
      )}
      <h3>{texts.conversation.mark}</h3>
      <button type="button" onClick={() => void change({ is_favorite: !is_favorite })}>
        {is_favorite ? texts.conversation.noFavorite : texts.conversation.favorite}
      </button>
      <button type="button" disabled={is_unread} onClick={() => void change({ is_unread: true })}>
        {texts.conversation.markUnread}
      </button>
      {statuses.includes("spam") && (
        <button type="button" onClick={() => void markSpam(id, status, onChange)}>
          {texts.conversation.spam}
        </button>
      )}
    </Menu>
  );
}

// The keys of the table.
const snoozeNames = Object.keys(snoozeTimes) as SnoozeTime[];

/** The parts of the line below the name. */
function describeState({ conversation }: Context): string[] {
  const { status, phone_number, is_within_24h_window, window_expires_at, assigned_to_name } = conversation;
  const { snoozed_until } = conversation;
  const left = is_within_24h_window && window_expires_at ? formatTimeLeft(window_expires_at) : null;
  return [
    snoozed_until === null
      ? texts.statuses[status]
      : texts.conversation.snoozedUntil(formatMoment(snoozed_until)),
    phone_number,
    assigned_to_name ?? texts.panel.unassigned,
    left === null ? texts.conversation.windowClosed : texts.list.windowOpen(left),
  ].flatMap((part) => part ?? []);
}
