/** What a search finds: people by name or number, and conversations by words of their messages. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { attempt } from "../../controls/attempt.ts";
import { type Answer, call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { formatTime } from "../../time.ts";
import { type Filter, formatFilter } from "../filter.ts";

type Person = Answer<"list_contacts">["data"][number];
type Match = Answer<"search_messages">["data"]["conversations"][number];

interface Found {
  readonly people: readonly Person[];
  readonly matches: readonly Match[];
}

const mostPeople = 8;

interface Props {
  readonly filter: Filter;
  /** Receives the ids of the conversations that are found, for moving by keyboard. */
  readonly onOrder: (ids: readonly string[]) => void;
  /** Called with the number of a contact without a conversation. */
  readonly onStart: (number: string) => void;
}

export function SearchResults({ filter, onOrder, onStart }: Props) {
  const { search } = filter;
  const found = useSignal<Found | null>(null);
  const problem = useSignal("");

  useEffect(() => {
    const controller = new AbortController();
    found.value = null;
    problem.value = "";
    find(search, controller.signal).then(
      (result) => {
        found.value = result;
      },
      (error: unknown) => {
        problem.value = controller.signal.aborted ? "" : describeError(error);
      },
    );
    return () => controller.abort();
  }, [search]);
  useEffect(() => onOrder(found.value?.matches.map(({ id }) => id) ?? []), [found.value]);

  // The search stays in the address while a result is open.
  const query = formatFilter(filter);
  if (problem.value !== "") {
    return <p class="empty error">{problem.value}</p>;
  }
  if (found.value === null) {
    return <p class="empty">{texts.loading}</p>;
  }
  const { people, matches } = found.value;
  if (people.length + matches.length === 0) {
    return <p class="empty">{texts.search.nothing}</p>;
  }
  return (
    <div class="list-scroll">
      {people.length > 0 && <People people={people} query={query} onStart={onStart} />}
      {matches.length > 0 && <Matches matches={matches} query={query} />}
    </div>
  );
}

interface Results {
  /** The query of the addresses, with the search. */
  readonly query: string;
}

function People({ people, query, onStart }: Results & Pick<Found, "people"> & Pick<Props, "onStart">) {
  const { route } = useLocation();
  const open = ({ id, phone_number }: Person) =>
    attempt(async () => {
      const { data } = await call("list_conversations", { contact_id: id, per_page: 1 });
      if (data[0] === undefined) {
        onStart(phone_number ?? "");
      } else {
        route(`/console/inbox/${data[0].id}${query}`);
      }
    });
  return (
    <>
      <h3 class="group">{texts.search.people}</h3>
      <ul>
        {people.map((person) => (
          <li key={person.id}>
            <button type="button" class="found" onClick={() => void open(person)}>
              <strong class="truncate">{person.name ?? person.phone_number}</strong>
              <span class="small muted">{person.phone_number}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Matches({ matches, query }: Results & Pick<Found, "matches">) {
  const { path } = useLocation();
  return (
    <>
      <h3 class="group">{texts.search.messages}</h3>
      <ul>
        {matches.map(({ id, contact_name, phone_number, match }) => (
          <li key={id}>
            <a
              class="found"
              href={`/console/inbox/${id}${query}&message=${match.message_id}`}
              aria-current={path === `/console/inbox/${id}` ? "true" : undefined}
              data-conversation={id}
            >
              <span class="row spread">
                <strong class="truncate">{contact_name ?? phone_number}</strong>
                <time class="small muted">{formatTime(match.created_at)}</time>
              </span>
              <span class="small muted">{match.text}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

async function find(search: string, signal: AbortSignal): Promise<Found> {
  const hasWord = /[\p{L}\p{N}]/u.test(search);
  const [people, messages] = await Promise.all([
    call("list_contacts", { search, per_page: mostPeople }, { signal }),
    hasWord ? call("search_messages", { query: search }, { signal }) : null,
  ]);
  return { people: people.data, matches: messages?.data.conversations ?? [] };
}
