/** The inbox: the list, the conversation that is open, and who its contact is. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { attempt } from "../controls/attempt.ts";
import { texts } from "../texts.ts";
import { restoreOutbox } from "./compose/outbox.ts";
import { readDirectory } from "./directory.ts";
import { formatFilter, readFilter } from "./filter.ts";
import "./inbox.css";
import "./list/list.css";
import "./conversation/conversation.css";
import { ConversationPane } from "./conversation/conversation-pane.tsx";
import { ListPane } from "./list/list-pane.tsx";
import { type FormerPlace, findRow, ShortcutHelp, useShortcuts } from "./shortcuts.tsx";
import { watchUnread } from "./unread.ts";

export function InboxPage() {
  const { params } = useRoute();
  const { query, route } = useLocation();
  const order = useSignal<readonly string[]>([]);
  const formerPlace = useSignal<FormerPlace | null>(null);
  const isHelpOpen = useSignal(false);
  const filter = readFilter(query);
  const { id } = params;

  useEffect(() => {
    void attempt(readDirectory);
    restoreOutbox();
    return watchUnread();
  }, []);

  const show = (next: string | undefined) =>
    route(
      next === undefined
        ? `/console/${formatFilter(filter)}`
        : `/console/inbox/${next}${formatFilter(filter)}`,
    );
  const leave = (left: string) => {
    show(undefined);
    requestAnimationFrame(() => findRow(left)?.focus());
  };
  useShortcuts({
    order: () => order.value,
    formerPlace: () => formerPlace.value,
    openId: id,
    show,
    showHelp: () => {
      isHelpOpen.value = true;
    },
  });
  return (
    <main class={`inbox${id === undefined ? "" : " has-conversation"}`}>
      <ListPane
        filter={filter}
        openId={id}
        onOrder={(ids) => {
          const index = id === undefined ? -1 : order.value.indexOf(id);
          if (id !== undefined && index >= 0 && !ids.includes(id)) {
            formerPlace.value = { id, index };
          }
          order.value = ids;
        }}
      />
      {id === undefined ? (
        <div class="conversation-pane empty">
          <p>{texts.conversation.choose}</p>
          <button
            type="button"
            onClick={() => {
              isHelpOpen.value = true;
            }}
          >
            {texts.shortcuts.title}
          </button>
        </div>
      ) : (
        <ConversationPane key={id} id={id} onLeave={() => leave(id)} />
      )}
      {isHelpOpen.value && (
        <ShortcutHelp
          onClose={() => {
            isHelpOpen.value = false;
          }}
        />
      )}
    </main>
  );
}
