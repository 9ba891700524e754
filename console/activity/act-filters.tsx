/** Chooses whose acts the page shows, of which operation, about whom, and with which outcome. */

import { operations } from "virtual:operations";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { attempt } from "../controls/attempt.ts";
import { useTyped } from "../controls/use-typed.ts";
import { type Answer, call } from "../service/call.ts";
import { listEverybody } from "../service/list-all.ts";
import { describeAct } from "../texts/acts.ts";
import { texts } from "../texts.ts";
import { type ActFilter, outcomes } from "./filter.ts";

type Key = Answer<"list_api_keys">["data"][number];
type Person = Answer<"list_users">["data"][number];

interface Props {
  readonly filter: ActFilter;
  readonly onChange: (changes: Partial<ActFilter>) => void;
}

export function ActFilters({ filter, onChange }: Props) {
  const { filters } = texts.activity;
  return (
    <search class="filters" aria-label={filters.label}>
      <AgentSelect value={filter.by} onChange={(by) => onChange({ by })} />
      <FilterText
        label={filters.operation}
        value={filter.operation}
        list="operations"
        onChange={(operation) => onChange({ operation })}
      />
      <datalist id="operations">
        {Object.keys(operations).map((name) => (
          <option key={name} value={name} label={describeAct(name, "done", "")} />
        ))}
      </datalist>
      <FilterText
        label={filters.contact}
        value={filter.contact_id}
        onChange={(contact_id) => onChange({ contact_id })}
      />
      <label>
        {filters.outcome}
        <select
          value={filter.outcome}
          onChange={({ currentTarget }) => onChange({ outcome: currentTarget.value })}
        >
          <option value="">{filters.anyOutcome}</option>
          {outcomes.map((outcome) => (
            <option key={outcome} value={outcome}>
              {filters.outcomes[outcome]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        disabled={Object.values(filter).every((value) => value === "")}
        onClick={() => onChange({ by: "", operation: "", contact_id: "", outcome: "" })}
      >
        {filters.clear}
      </button>
    </search>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly list?: string;
  readonly onChange: (text: string) => void;
}

function FilterText({ label, value, list, onChange }: TextProps) {
  const { typed, store } = useTyped(value, onChange);
  return (
    <label>
      {label}
      <input
        value={typed.value}
        list={list}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        onChange={({ currentTarget }) => store(currentTarget.value.trim())}
      />
    </label>
  );
}

interface AgentProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
}

function AgentSelect({ value, onChange }: AgentProps) {
  const keys = useSignal<readonly Key[]>([]);
  const people = useSignal<readonly Person[]>([]);
  useEffect(() => {
    void attempt(async () => {
      const [ofKeys, ofPeople] = await Promise.all([call("list_api_keys", {}), listEverybody()]);
      keys.value = ofKeys.data;
      people.value = ofPeople;
    });
  }, []);
  const { filters } = texts.activity;
  return (
    <label>
      {filters.by}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{filters.anybody}</option>
        <Agents label={filters.keys} agents={keys.value} />
        <Agents label={filters.people} agents={people.value} />
      </select>
    </label>
  );
}

interface AgentsProps {
  readonly label: string;
  readonly agents: readonly { readonly id: string; readonly name: string }[];
}

function Agents({ label, agents }: AgentsProps) {
  return (
    <optgroup label={label}>
      {agents.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </optgroup>
  );
}
