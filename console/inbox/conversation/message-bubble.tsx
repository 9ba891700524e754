/** One message: who wrote it, what it quotes, its content, reactions, and how far it has come. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "../../controls/icon.tsx";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { formatClock, formatComplete } from "../../time.ts";
import { sendParts } from "../compose/send-parts.ts";
import { describeSender } from "../names.ts";
import { describeContent, MessageContent } from "./message-content.tsx";
import type { Message } from "./open-conversation.ts";

interface Props {
  readonly message: Message;
  /** The message that this one quotes, if it is known. */
  readonly quoted: Message | undefined;
  /** Whether it is marked, because a search found it. */
  readonly isWanted: boolean;
  readonly actions: ComponentChildren;
}

export function MessageBubble({ message, quoted, isWanted, actions }: Props) {
  const { id, direction, sent_by, status, reactions, reply_to } = message;
  const isFailed = status === "failed";
  return (
    <li
      class={`bubble ${direction}${isFailed ? " failed" : ""}${isWanted ? " wanted" : ""}`}
      data-message={id}
    >
      {direction === "outbound" && sent_by && (
        <p class="small muted sender">
          {describeSender(sent_by)}
          {sent_by.sources && sent_by.sources.length > 0 && (
            <details>
              <summary>{texts.senders.sources(sent_by.sources.length)}</summary>
              <ul>
                {sent_by.sources.map((source) => (
                  <li key={source}>{source}</li>
                ))}
              </ul>
            </details>
          )}
        </p>
      )}
      {reply_to && (
        <blockquote class="small truncate">
          {quoted === undefined ? texts.conversation.quotedUnknown : describeContent(quoted)}
        </blockquote>
      )}
      <MessageContent message={message} />
      {reactions.length > 0 && (
        <p class="reactions">
          {reactions.map(({ emoji, from }) => (
            <span key={from} title={texts.conversation.reactionFrom(from)}>
              {emoji}
            </span>
          ))}
        </p>
      )}
      <footer class="row small muted">
        {actions}
        <Progress message={message} />
      </footer>
      {isFailed && message.error && (
        <p class="small failure">
          <strong>{message.error.title}</strong> {message.error.hint}
        </p>
      )}
      {isFailed && sent_by?.type === "user" && sent_by.id === session.value?.user.id && (
        <SendAgain message={message} />
      )}
      {message.waiting_for && <Wait wait={message.waiting_for} />}
    </li>
  );
}

/** Nothing is shown while a message has its turn within seconds, as usual. */
function Wait({ wait }: { wait: NonNullable<Message["waiting_for"]> }) {
  const { reason, since, next_attempt_at, last_error } = wait;
  if (reason === "turn" && next_attempt_at === null && Date.now() - Date.parse(since) < shownAfterMs) {
    return null;
  }
  const cause = last_error && reason !== "confirmation" ? texts.conversation.waitCause(last_error.title) : "";
  const next = next_attempt_at === null ? "" : texts.conversation.nextAttempt(formatClock(next_attempt_at));
  return (
    <p class="small muted" title={texts.conversation.waitsSince(formatComplete(since))}>
      {[texts.conversation.waits[reason], cause, next].filter(Boolean).join(" ")}
    </p>
  );
}

const shownAfterMs = 10_000;

/** The failed messages whose texts were sent again from this page. */
const sentAgain = signal<ReadonlySet<string>>(new Set());

/** A failed message is final, so its text is sent as a new message, once. */
function SendAgain({ message: { id, conversation_id, text } }: { message: Message }) {
  const body = text?.body ?? "";
  if (sentAgain.value.has(id)) {
    return <p class="small muted">{texts.conversation.isSentAgain}</p>;
  }
  const send = () => {
    sentAgain.value = new Set([...sentAgain.value, id]);
    sendParts(conversation_id, { text: body, attachments: [], quoted: null });
  };
  return body === "" ? null : (
    <p>
      <button type="button" onClick={send}>
        {texts.conversation.sendAgain}
      </button>
    </p>
  );
}

function Progress({ message }: { message: Message }) {
  const { created_at, edited_at, direction, status, simulated } = message;
  return (
    <span class="row progress">
      {edited_at && <span>{texts.conversation.edited}</span>}
      {simulated && direction === "outbound" && <span>{texts.conversation.simulated}</span>}
      <time datetime={created_at} title={formatComplete(created_at)}>
        {formatClock(created_at)}
      </time>
      {direction === "outbound" && (
        <span class={`tick ${status}`} title={texts.messageStatuses[status]}>
          <Icon name={tickOf[status] ?? "clock"} size={16} />
          <span class="visually-hidden">{texts.messageStatuses[status]}</span>
        </span>
      )}
    </span>
  );
}

const tickOf = {
  queued: "clock",
  sent: "check",
  delivered: "checks",
  read: "checks",
  failed: "warning",
  received: "check",
} as const;
