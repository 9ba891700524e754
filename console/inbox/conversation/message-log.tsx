/** The messages and notes of a conversation, oldest first. */
import { useEffect } from "preact/hooks";
import { Icon } from "../../controls/icon.tsx";
import { showToast } from "../../controls/toast.tsx";
import { texts } from "../../texts.ts";
import { formatDay } from "../../time.ts";
import { type Outgoing, outbox } from "../compose/outbox.ts";
import type { Writing } from "../compose/writing.ts";
import { MessageBubble } from "./message-bubble.tsx";
import { NoteBubble } from "./note-bubble.tsx";
import type { Message, Note, OpenConversation } from "./open-conversation.ts";
import { OutgoingBubble } from "./outgoing-bubble.tsx";
import { useShownPart } from "./shown-part.ts";

interface Props {
  readonly conversation: OpenConversation;
  /** The id of a message that is shown and marked at first. */
  readonly wanted: string | undefined;
  /** Receives the message to quote, and the one to edit. */
  readonly writing: Writing;
}

type Entry =
  | { readonly kind: "message"; readonly at: string; readonly message: Message }
  | { readonly kind: "note"; readonly at: string; readonly note: Note };

export function MessageLog({ conversation, wanted, writing }: Props) {
  const messages = conversation.messages.value;
  const notes = conversation.context.value?.notes ?? [];
  const waiting = outbox.value.filter((one) => isWaiting(one, conversation.id, messages));
  const shown = useShownPart(conversation, {
    content: [messages, notes, waiting.length],
    waiting: waiting.length,
  });
  useEffect(() => {
    if (wanted !== undefined) {
      void shown.reveal(wanted).then((isFound) => !isFound && showToast(texts.conversation.notFound));
    }
  }, [wanted]);
  const entries = mixNotes(messages.slice(shown.start, shown.end), notes, shown);
  return (
    <div class="log-frame">
      <div
        class="log"
        role="log"
        aria-label={texts.conversation.log}
        ref={shown.scroller}
        onScroll={shown.handleScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
      >
        {shown.hasFirst && !conversation.hasOlder.value && (
          <p class="small muted begin">{texts.conversation.begin}</p>
        )}
        <ol>
          {entries.map((entry, index) => (
            <LogEntry
              key={entry.kind === "note" ? entry.note.id : entry.message.id}
              entry={entry}
              before={entries[index - 1]}
              messages={messages}
              wanted={wanted}
              onQuote={(message) => {
                writing.quoted.value = message;
              }}
            />
          ))}
          {shown.hasLast &&
            waiting.map((one) => (
              <OutgoingBubble key={one.key} outgoing={one} conversation={conversation} writing={writing} />
            ))}
        </ol>
      </div>
      {!shown.hasLast && (
        <button type="button" class="latest" onClick={shown.showLatest}>
          {texts.conversation.latest}
        </button>
      )}
    </div>
  );
}

interface LogEntryProps {
  readonly entry: Entry;
  readonly before: Entry | undefined;
  readonly messages: readonly Message[];
  readonly wanted: string | undefined;
  readonly onQuote: (message: Message) => void;
}

function LogEntry({ entry, before, messages, wanted, onQuote }: LogEntryProps) {
  const day = formatDay(entry.at);
  return (
    <>
      {(before === undefined || formatDay(before.at) !== day) && (
        <li class="day">
          <h3>{day}</h3>
        </li>
      )}
      {entry.kind === "note" ? (
        <NoteBubble note={entry.note} />
      ) : (
        <MessageBubble
          message={entry.message}
          quoted={findQuoted(entry.message, messages)}
          isWanted={entry.message.id === wanted}
          actions={
            <button
              type="button"
              class="plain icon"
              aria-label={texts.conversation.quote}
              title={texts.conversation.quote}
              onClick={() => onQuote(entry.message)}
            >
              <Icon name="reply" size={16} />
            </button>
          }
        />
      )}
    </>
  );
}

function findQuoted({ reply_to }: Message, messages: readonly Message[]): Message | undefined {
  return reply_to === null ? undefined : messages.find(({ id }) => id === reply_to);
}

/** Notes stand where they were written. Notes outside of the shown messages are left out. */
function mixNotes(
  messages: readonly Message[],
  notes: readonly Note[],
  { hasFirst, hasLast }: { readonly hasFirst: boolean; readonly hasLast: boolean },
): readonly Entry[] {
  const first = hasFirst ? "" : (messages[0]?.created_at ?? "");
  const last = hasLast ? "9" : (messages.at(-1)?.created_at ?? "9");
  const entries: Entry[] = [
    ...messages.map((message): Entry => ({ kind: "message", at: message.created_at, message })),
    ...notes
      .filter(({ created_at }) => created_at >= first && created_at <= last)
      .map((note): Entry => ({ kind: "note", at: note.created_at, note })),
  ];
  return entries.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function isWaiting(
  { conversation_id, message_id }: Outgoing,
  id: string,
  messages: readonly Message[],
): boolean {
  return conversation_id === id && !messages.some((message) => message.id === message_id);
}
