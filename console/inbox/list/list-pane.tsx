/** The left pane: what the list shows, a search, the conversations, and acts on several of them. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Icon } from "../../controls/icon.tsx";
import { useTyped } from "../../controls/use-typed.ts";
import { isPlaygroundOffered } from "../../playground/available.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { NewConversation } from "../compose/new-conversation.tsx";
import { type Filter, formatFilter } from "../filter.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { type ConversationList, createConversationList, mostRows } from "./conversation-list.ts";
import { ConversationRow } from "./conversation-row.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { SearchResults } from "./search.tsx";

interface Props {
  readonly filter: Filter;
  readonly openId: string | undefined;
  /** Receives the ids in the order of the list, for moving by keyboard. */
  readonly onOrder: (ids: readonly string[]) => void;
}

export function ListPane({ filter, openId, onOrder }: Props) {
  const query = formatFilter({ ...filter, search: "" });
  const list = useMemo(() => createConversationList(filter), [query]);
  const selected = useSignal<ReadonlySet<string>>(new Set());
  /** The number of the dialog for a new conversation; null while it is closed. */
  const startingWith = useSignal<string | null>(null);
  const { path, route } = useLocation();

  useEffect(() => {
    selected.value = new Set();
    return () => list.stop();
  }, [list]);
  useEffect(() => {
    if (filter.search === "") {
      onOrder(list.items.value?.map(({ id }) => id) ?? []);
    }
  }, [list.items.value, filter.search]);

  const addressOf = (changes: Partial<Filter>) => `${path}${formatFilter({ ...filter, ...changes })}`;
  const change = (changes: Partial<Filter>) => route(addressOf(changes));
  // One entry of the history for a search, not one for each pause in typing.
  const search = (words: string) => route(addressOf({ search: words }), filter.search !== "");
  return (
    <section class="list-pane" aria-label={texts.list.title}>
      <header class="list-header">
        <div class="row spread">
          <h1>{texts.list.title}</h1>
          <button
            type="button"
            class="plain icon"
            aria-label={texts.start.title}
            title={texts.start.title}
            onClick={() => {
              startingWith.value = "";
            }}
          >
            <Icon name="plus" />
          </button>
        </div>
        <SearchBox search={filter.search} onSearch={search} />
        {filter.search === "" && <FilterBar filter={filter} onChange={change} />}
      </header>
      {filter.search === "" ? (
        <Conversations
          list={list}
          query={query}
          openId={openId}
          showsWaiting={filter.view === "waiting"}
          selected={selected}
        />
      ) : (
        <SearchResults
          filter={filter}
          onOrder={onOrder}
          onStart={(number) => {
            startingWith.value = number;
          }}
        />
      )}
      {selected.value.size > 0 && (
        <BulkBar
          ids={[...selected.value]}
          onChange={list.refresh}
          onClear={() => {
            selected.value = new Set();
          }}
        />
      )}
      {startingWith.value !== null && (
        <NewConversation
          to={startingWith.value}
          onClose={() => {
            startingWith.value = null;
          }}
        />
      )}
    </section>
  );
}

interface ConversationsProps {
  readonly list: ConversationList;
  readonly query: string;
  readonly openId: string | undefined;
  readonly showsWaiting: boolean;
  readonly selected: { value: ReadonlySet<string> };
}

function Conversations({ list, query, openId, showsWaiting, selected }: ConversationsProps) {
  const items = list.items.value;
  const error = list.error.value;
  const select = (id: string, isSelected: boolean) => {
    const ids = new Set(selected.value);
    if (isSelected) {
      ids.add(id);
    } else {
      ids.delete(id);
    }
    selected.value = ids;
  };
  // The key of the next conversation finds it after the last row.
  useEffect(() => {
    if (openId !== undefined && items?.at(-1)?.id === openId && list.hasMore()) {
      void list.readMore();
    }
  }, [items, openId]);
  if (items === null) {
    return <p class="empty">{error === null ? texts.loading : describeError(error)}</p>;
  }
  return (
    <div class="list-scroll">
      {error !== null && <p class="notice bad">{describeError(error)}</p>}
      {items.length === 0 && <EmptyList isFiltered={query !== ""} />}
      <ul>
        {items.map((conversation) => (
          <ConversationRow
            key={conversation.id}
            conversation={conversation}
            href={`/console/inbox/${conversation.id}${query}`}
            isOpen={conversation.id === openId}
            showsWaiting={showsWaiting}
            isSelected={selected.value.has(conversation.id)}
            onSelect={(isSelected) => select(conversation.id, isSelected)}
          />
        ))}
      </ul>
      {list.hasMore() && (
        <button type="button" class="more" onClick={() => void list.readMore()}>
          {texts.list.more(list.total.value - items.length)}
        </button>
      )}
      {list.isCut() && <p class="small muted padded">{texts.list.cut(mostRows)}</p>}
    </div>
  );
}

/** Where nobody has written yet, the playground leads to the first message. */
function EmptyList({ isFiltered }: { isFiltered: boolean }) {
  return (
    <div class="empty">
      <p>{texts.list.empty}</p>
      {!isFiltered && isPlaygroundOffered() && (
        <>
          <p class="small">{texts.playground.invitation}</p>
          <a href="/console/playground">{texts.playground.openIt}</a>
        </>
      )}
    </div>
  );
}

const typingPauseMs = 250;

function SearchBox({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  const { typed, store } = useTyped(search, onSearch);
  const timer = useSignal<number | undefined>(undefined);
  const searchSoon = (text: string) => {
    typed.value = text;
    clearTimeout(timer.value);
    timer.value = setTimeout(() => store(text.trim()), typingPauseMs);
  };
  return (
    <search class="search-box">
      <Icon name="search" size={18} />
      <input
        type="search"
        id="search"
        aria-label={texts.search.label}
        placeholder={texts.search.label}
        value={typed.value}
        onInput={({ currentTarget }) => searchSoon(currentTarget.value)}
      />
    </search>
  );
}
