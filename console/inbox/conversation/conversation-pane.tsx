/** The open conversation: its header, its messages, the reply box, and the panel about its contact. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { describeError } from "../../service/describe-error.ts";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { now } from "../../time.ts";
import { changeConversation } from "../acts.ts";
import { addFiles } from "../compose/attachments.ts";
import { Composer, describeObstacle } from "../compose/composer.tsx";
import { forgetShown, showOutgoing } from "../compose/outbox.ts";
import { useWriting, type Writing } from "../compose/writing.ts";
import { ContactPanel } from "../panel/contact-panel.tsx";
import { describeOthers, usePresence } from "../presence.ts";
import { unreadMentions } from "../unread.ts";
import { ConversationHeader } from "./conversation-header.tsx";
import { MessageLog } from "./message-log.tsx";
import { type Context, type OpenConversation, openConversation } from "./open-conversation.ts";

interface Props {
  readonly id: string;
  readonly onLeave: () => void;
  /** Whether the panel about the contact is open at first; by default on a wide screen. */
  readonly hasPanel?: boolean;
}

export function ConversationPane({ id, onLeave, hasPanel = isWide() }: Props) {
  const conversation = useMemo(() => openConversation(id), [id]);
  const isPanelOpen = useSignal(hasPanel);
  const writing = useWriting(id);
  const context = conversation.context.value;
  const error = conversation.error.value;

  useEffect(() => () => conversation.stop(), [conversation]);
  useEffect(() => showOutgoing(id), [id]);
  useEffect(
    () => forgetShown(new Set(conversation.messages.value.map((message) => message.id))),
    [conversation.messages.value],
  );
  useMarkRead(conversation);
  useWindowEnd(conversation);
  const { message: wanted } = useLocation().query;
  const handleWrite = usePresence(id);

  if (context === null) {
    return (
      <section class="conversation-pane empty" aria-label={texts.conversation.title}>
        {error === null ? texts.loading : <p class="error">{describeError(error)}</p>}
        <button type="button" onClick={onLeave}>
          {texts.conversation.back}
        </button>
      </section>
    );
  }
  return (
    <>
      <section
        class="conversation-pane"
        aria-label={texts.conversation.title}
        onDragOver={acceptFiles}
        onDrop={(event) => takeFiles(event, context, writing)}
      >
        <ConversationHeader
          context={context}
          onLeave={onLeave}
          onChange={conversation.refresh}
          isPanelOpen={isPanelOpen.value}
          onTogglePanel={() => {
            isPanelOpen.value = !isPanelOpen.value;
          }}
        />
        {error !== null && <p class="notice bad">{describeError(error)}</p>}
        <MessageLog conversation={conversation} wanted={wanted} writing={writing} />
        <p class="small muted presence" role="status">
          {describeOthers(id)}
        </p>
        <Composer context={context} writing={writing} onChange={conversation.refresh} onWrite={handleWrite} />
      </section>
      {isPanelOpen.value && (
        <ContactPanel
          context={context}
          onChange={conversation.refresh}
          onClose={() => {
            isPanelOpen.value = false;
          }}
        />
      )}
    </>
  );
}

/** Otherwise the browser would open a file that is dropped. */
function acceptFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files")) {
    event.preventDefault();
  }
}

/** Files go into the reply, wherever they are dropped, if one may be written. */
function takeFiles(event: DragEvent, context: Context, { mode, attachments }: Writing): void {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length === 0) {
    return;
  }
  event.preventDefault();
  if (describeObstacle(context) === null) {
    mode.value = "reply";
    addFiles(attachments, files);
  }
}

function isWide(): boolean {
  return matchMedia("(min-width: 1200px)").matches;
}

/** Reads the conversation again when its 24-hour window ends, because nothing else happens then. */
function useWindowEnd({ context, refresh }: OpenConversation): void {
  const { is_within_24h_window = false, window_expires_at = null } = context.value?.conversation ?? {};
  const hasEnded = is_within_24h_window && Date.parse(window_expires_at ?? "") <= now.value;
  useEffect(() => {
    if (hasEnded) {
      refresh();
    }
  }, [hasEnded]);
}

/**
 * Marks the conversation as read when the person sees it, and again after a new message or mention. What is
 * marked as unread meanwhile stays unread.
 */
function useMarkRead({ id, context, refresh }: OpenConversation): void {
  const { is_unread = false, is_unread_by_me = false } = context.value?.conversation ?? {};
  const isUnread = is_unread || is_unread_by_me;
  // Null until the messages were read.
  const received =
    context.value && (context.value.messages.findLast(({ direction }) => direction === "inbound")?.id ?? "");
  const me = session.value?.user.id ?? "";
  const mention = context.value?.notes.findLast(({ mentions }) => mentions.includes(me))?.id;
  // Notes do not say whether they were read: one reading too many changes nothing.
  const isMentioned = mention !== undefined && unreadMentions.value > 0;
  const seen = useRef<{ received: string | null; mention?: string }>({ received: null });
  useEffect(() => {
    const isNew = isUnread && received !== seen.current.received;
    if (!isNew && !(isMentioned && mention !== seen.current.mention)) {
      seen.current.received = isUnread ? seen.current.received : received;
      return;
    }
    const mark = async () => {
      if (document.visibilityState === "visible") {
        seen.current = { received, ...(isMentioned && { mention }) };
        if (await changeConversation(id, { is_unread: false })) {
          document.removeEventListener("visibilitychange", mark);
        }
        refresh();
      }
    };
    document.addEventListener("visibilitychange", mark);
    void mark();
    return () => document.removeEventListener("visibilitychange", mark);
  }, [isUnread, received, isMentioned, mention]);
}
