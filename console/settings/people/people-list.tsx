/** The people with their roles, found by name or e-mail address. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { holdsScope, session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { NewPersonDialog } from "./new-person-dialog.tsx";
import type { Person } from "./person.ts";

const words = texts.people;
const pageSize = 25;
/** One request returns no more. */
const mostPeople = 100;
const typingMs = 250;

export function PeopleList() {
  const typed = useSignal("");
  const search = useSignal("");
  const wanted = useSignal(pageSize);
  const adds = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      search.value = typed.value.trim();
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const { value, problem, reload } = useReading(() => {
    const found = search.value === "" ? {} : { search: search.value };
    return call("list_users", { ...found, page: 1, per_page: wanted.value });
  }, `${wanted.value} ${search.value}`);
  const answer = value.value;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.intro}</p>
      {holdsScope("tokens:create") ? (
        <div class="row">
          <button type="button" class="primary" onClick={() => (adds.value = true)}>
            {words.add}
          </button>
        </div>
      ) : (
        <p class="notice">{words.readOnly}</p>
      )}
      <input
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={typed.value}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      />
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {answer === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <ul class="link-list">
          {answer.data.map((person) => (
            <PersonCard key={person.id} person={person} />
          ))}
        </ul>
      )}
      {answer?.data.length === 0 && <p class="muted">{words.none}</p>}
      {answer !== null && answer.data.length < answer.meta.total && (
        <div class="row">
          {wanted.value < mostPeople ? (
            <button type="button" onClick={() => (wanted.value += pageSize)}>
              {words.more}
            </button>
          ) : (
            <p class="small muted">{words.cut(mostPeople)}</p>
          )}
        </div>
      )}
      {adds.value && <NewPersonDialog onCreated={() => void reload()} onClose={() => (adds.value = false)} />}
    </div>
  );
}

function PersonCard({ person: { id, name, email, role, is_active } }: { person: Person }) {
  return (
    <li>
      <a href={`/console/settings/people/${id}`} data-person={id}>
        <span class="row spread">
          <strong>{name}</strong>
          <span class="row">
            {id === session.value?.user.id && <span class="chip">{words.you}</span>}
            {!is_active && <span class="chip bad">{words.inactive}</span>}
            <span class="chip">{words.roles[role]}</span>
          </span>
        </span>
        <span class="small muted">{email}</span>
      </a>
    </li>
  );
}
