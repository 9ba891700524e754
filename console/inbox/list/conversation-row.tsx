/** One conversation in the list. */
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import { formatComplete, formatTime, formatTimeLeft, formatTimeSince } from "../../time.ts";
import { describeSender } from "../names.ts";
import type { ListedConversation } from "./conversation-list.ts";

interface Props {
  readonly conversation: ListedConversation;
  readonly href: string;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  /** Says how long the contact has waited, in place of the time left to reply. */
  readonly showsWaiting: boolean;
  readonly onSelect: (isSelected: boolean) => void;
}

export function ConversationRow({ conversation, href, isOpen, isSelected, showsWaiting, onSelect }: Props) {
  const { id, contact_name, phone_number, last_message_at } = conversation;
  const { is_unread, is_unread_by_me, unread_count, is_favorite } = conversation;
  const name = contact_name ?? phone_number ?? texts.unknownContact;
  return (
    <li class={`conversation-row${is_unread || is_unread_by_me ? " unread" : ""}`}>
      <input
        type="checkbox"
        aria-label={texts.list.select(name)}
        checked={isSelected}
        onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
      />
      <a href={href} aria-current={isOpen ? "true" : undefined} data-conversation={id}>
        <span class="row-top">
          <strong class="truncate">{name}</strong>
          {is_favorite && (
            <span class="favorite" title={texts.conversation.favorite}>
              <Icon name="star" size={14} />
              <span class="visually-hidden">{texts.conversation.favorite}</span>
            </span>
          )}
          {last_message_at && (
            <time class="small muted" datetime={last_message_at} title={formatComplete(last_message_at)}>
              {formatTime(last_message_at)}
            </time>
          )}
        </span>
        <span class="row-top">
          <Preview conversation={conversation} />
          {is_unread && (
            <span class="badge">
              {unread_count || ""}
              <span class="visually-hidden">{texts.list.unread}</span>
            </span>
          )}
        </span>
        <RowFacts conversation={conversation} showsWaiting={showsWaiting} />
      </a>
    </li>
  );
}

function RowFacts({ conversation, showsWaiting }: Pick<Props, "conversation" | "showsWaiting">) {
  const { status, assigned_to_name, tags } = conversation;
  const time = showsWaiting ? describeWaiting(conversation) : describeWindow(conversation);
  return (
    <span class="row small muted facts">
      {status === "open" ? null : <span class="chip">{texts.statuses[status]}</span>}
      {assigned_to_name && (
        <span class="row-fact">
          <Icon name="user" size={14} />
          {assigned_to_name}
        </span>
      )}
      {time && (
        <span class="row-fact">
          <Icon name="clock" size={14} />
          {time}
        </span>
      )}
      {tags.map((tag) => (
        <span class="chip" key={tag}>
          {tag}
        </span>
      ))}
    </span>
  );
}

function describeWaiting({ waiting_since }: ListedConversation): string | null {
  return waiting_since && texts.list.waiting(formatTimeSince(waiting_since));
}

function describeWindow({ is_within_24h_window, window_expires_at }: ListedConversation): string | null {
  const left = is_within_24h_window && window_expires_at ? formatTimeLeft(window_expires_at) : null;
  return left && texts.list.windowOpen(left);
}

/** The newest message or note in one line, and whether the message has failed. */
function Preview({ conversation }: { conversation: ListedConversation }) {
  const { last_message, last_note, last_message_at } = conversation;
  if (last_note && (last_message_at === null || last_note.created_at > last_message_at)) {
    return (
      <span class="small preview note-preview">
        <Icon name="note" size={14} />
        <span class="truncate">
          {texts.list.sentBy(describeSender(last_note.author))}
          <bdi>{last_note.text}</bdi>
        </span>
      </span>
    );
  }
  const isFailed = last_message?.status === "failed";
  return (
    <span class={`small preview${isFailed ? " failed" : ""}`}>
      {isFailed && <Icon name="warning" size={14} />}
      <span class="truncate">
        {isFailed && `${texts.messageStatuses.failed}. `}
        {last_message === null ? texts.list.noMessage : <MessagePreview message={last_message} />}
      </span>
    </span>
  );
}

function MessagePreview({ message }: { message: NonNullable<ListedConversation["last_message"]> }) {
  const { direction, text, type, sent_by } = message;
  const sender = sent_by ? describeSender(sent_by) : texts.senders.us;
  return (
    <>
      {direction === "outbound" && texts.list.sentBy(sender)}
      <bdi>{text ?? texts.messageTypes[type] ?? type}</bdi>
    </>
  );
}
