/** The conversations that the list shows: read in pages, and read again when something has changed. */
import { batch, signal } from "@preact/signals";
import { type LiveEvent, listen } from "../../live/live.ts";
import { createRefresher } from "../../live/refresh.ts";
import { type Answer, call } from "../../service/call.ts";
import { isTemporary } from "../../service/errors.ts";
import { type Filter, inputOf } from "../filter.ts";

export type ListedConversation = Answer<"list_conversations">["data"][number];

const firstPage = 30;
/** The most that one request returns. */
const longestPage = 100;
/** Rows beyond this are read by a narrower filter or a search. */
export const mostRows = 500;

/** Events after which the list may look different. */
const relevant = /^(message|conversation|note|contact)\./;

export function createConversationList(filter: Filter) {
  const items = signal<readonly ListedConversation[] | null>(null);
  const total = signal(0);
  const error = signal<unknown>(null);
  let wanted = firstPage;

  const read = async () => {
    // `readMore` may want more meanwhile. It reads them itself, and if that fails, the refresher does.
    const most = wanted;
    const per_page = Math.min(most, longestPage);
    try {
      const pages: ListedConversation[] = [];
      let found = 0;
      for (let page = 1; pages.length < most; page += 1) {
        const { data, meta } = await call("list_conversations", { ...inputOf(filter), page, per_page });
        pages.push(...data);
        found = meta.total;
        if (data.length < per_page) {
          break;
        }
      }
      if (most < wanted) {
        return false;
      }
      batch(() => {
        items.value = withoutDoubles(pages);
        total.value = found;
        error.value = null;
      });
      return true;
    } catch (thrown) {
      error.value = thrown;
      return !isTemporary(thrown);
    }
  };

  const refresh = createRefresher(read, { delayMs: 100 });
  const stopListening = listen((event) => {
    if (isRelevant(event)) {
      refresh();
    }
  });
  refresh.start();
  const shown = () => items.value?.length ?? 0;
  return {
    items,
    total,
    error,
    refresh,
    hasMore: () => total.value > shown() && shown() < mostRows,
    /** Whether there are more conversations than the list may have. */
    isCut: () => total.value > shown() && shown() >= mostRows,
    readMore() {
      wanted = Math.min(wanted < longestPage ? longestPage : wanted + longestPage, mostRows);
      return read();
    },
    stop() {
      stopListening();
      refresh.stop();
    },
  };
}

export type ConversationList = ReturnType<typeof createConversationList>;

function isRelevant(event: LiveEvent | "resync"): boolean {
  return event === "resync" || relevant.test(event.type);
}

/** A conversation can move to an earlier page between two requests. */
function withoutDoubles(conversations: readonly ListedConversation[]): readonly ListedConversation[] {
  return [...new Map(conversations.map((conversation) => [conversation.id, conversation])).values()];
}
