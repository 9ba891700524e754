/** Chooses what the list shows: a part of the inbox, an inbox, a team, a tag; and saves views. */
import { useSignal } from "@preact/signals";
import { useLocation } from "preact-iso/router";
import { Icon } from "../../controls/icon.tsx";
import { Menu } from "../../controls/menu.tsx";
import { showToast } from "../../controls/toast.tsx";
import { ofPerson, read, write } from "../../preferences.ts";
import { texts } from "../../texts.ts";
import { directory } from "../directory.ts";
import { type Filter, formatFilter, isView, views } from "../filter.ts";
import { TagField } from "../tag-field.tsx";
import { unreadMentions } from "../unread.ts";

interface Props {
  readonly filter: Filter;
  readonly onChange: (changes: Partial<Filter>) => void;
}

export function FilterBar({ filter, onChange }: Props) {
  return (
    <div class="row filter-bar">
      <select
        aria-label={texts.filter.view}
        value={filter.view}
        onChange={({ currentTarget: { value } }) => isView(value) && onChange({ view: value })}
      >
        {Object.keys(views).map((view) => (
          <option key={view} value={view}>
            {isView(view) && texts.views[view]}
          </option>
        ))}
      </select>
      {filter.view !== "mentions" && unreadMentions.value > 0 && (
        <button
          type="button"
          class="mentions"
          aria-label={texts.filter.mentions(unreadMentions.value)}
          title={texts.filter.mentions(unreadMentions.value)}
          onClick={() => onChange({ view: "mentions" })}
        >
          @ <span class="badge">{unreadMentions.value}</span>
        </button>
      )}
      <Menu label={texts.filter.more} class="icon" button={<Icon name="filter" />}>
        <Choice
          title={texts.filter.inbox}
          choices={directory.value.inboxes.map(({ id, name, phone_number }) => ({
            id,
            name: texts.filter.inboxOption(name, phone_number),
          }))}
          chosen={filter.inbox_id}
          onChoose={(inbox_id) => onChange({ inbox_id })}
        />
        <Choice
          title={texts.filter.team}
          choices={directory.value.teams}
          chosen={filter.team_id}
          onChoose={(team_id) => onChange({ team_id })}
        />
        <SavedViews filter={filter} />
      </Menu>
      {filter.tag === "" && <TagField label={texts.filter.tag} onTag={(tag) => onChange({ tag })} />}
      <ActiveFilters filter={filter} onChange={onChange} />
    </div>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly choices: readonly { readonly id: string; readonly name: string }[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

function Choice({ title, choices, chosen, onChoose }: ChoiceProps) {
  return choices.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      {choices.map(({ id, name }) => (
        <button
          type="button"
          key={id}
          aria-pressed={id === chosen}
          onClick={() => onChoose(id === chosen ? "" : id)}
        >
          {name}
        </button>
      ))}
    </>
  );
}

function ActiveFilters({ filter, onChange }: Props) {
  const nameOf = (list: readonly { id: string; name: string }[], id: string) =>
    list.find((one) => one.id === id)?.name ?? id;
  const active = [
    { field: "inbox_id", name: nameOf(directory.value.inboxes, filter.inbox_id) },
    { field: "team_id", name: nameOf(directory.value.teams, filter.team_id) },
    { field: "tag", name: filter.tag },
  ] as const;
  return active
    .filter(({ name }) => name !== "")
    .map(({ field, name }) => (
      <span class="chip" key={field}>
        {name}
        <button
          type="button"
          class="plain icon"
          aria-label={texts.filter.remove(name)}
          onClick={() => onChange({ [field]: "" })}
        >
          <Icon name="close" size={14} />
        </button>
      </span>
    ));
}

interface SavedView {
  readonly name: string;
  readonly query: string;
}

/** Views that the person saved in this browser. */
function SavedViews({ filter }: { filter: Filter }) {
  const saved = useSignal(read<{ list: readonly SavedView[] }>(ofPerson("views"))?.list ?? []);
  const { route, path } = useLocation();
  const query = formatFilter(filter);
  const store = (list: readonly SavedView[]) => {
    saved.value = list;
    write(ofPerson("views"), { list });
  };
  const save = () => {
    const name = nameOfFilter(filter);
    store([...saved.value, { name, query }]);
    showToast(texts.filter.isSaved(name));
  };
  const isSaved = saved.value.some((view) => view.query === query);
  return (
    <>
      <h3>{texts.filter.saved}</h3>
      {saved.value.map((view) => (
        <button
          type="button"
          key={view.query}
          aria-pressed={view.query === query}
          onClick={() => route(`${path}${view.query}`)}
        >
          {view.name}
        </button>
      ))}
      {isSaved ? (
        <button type="button" onClick={() => store(saved.value.filter((view) => view.query !== query))}>
          {texts.filter.forget}
        </button>
      ) : (
        <button type="button" onClick={save}>
          {texts.filter.save}
        </button>
      )}
    </>
  );
}

function nameOfFilter({ view, inbox_id, team_id, tag }: Filter): string {
  const { inboxes, teams } = directory.value;
  const inbox = inboxes.find(({ id }) => id === inbox_id)?.name;
  const team = teams.find(({ id }) => id === team_id)?.name;
  return [texts.views[view], inbox, team, tag].filter(Boolean).join(" · ");
}
