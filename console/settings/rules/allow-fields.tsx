/** What is allowed at all: inboxes, templates, cohorts, countries, operations, and which contacts. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Field, type FormState } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { type RuleChoice, readChoices } from "./choices.ts";
import type { ListName, RulesDraft } from "./draft.ts";

const { allow: words } = texts.settings;
const chosen = ["inboxes", "templates", "cohorts"] as const;
const written = ["countries", "operations"] as const;

interface Props {
  readonly form: FormState;
  /** The path of `allow` in the operation's input. */
  readonly path: string;
  readonly draft: RulesDraft;
  readonly onChange: (part: Partial<RulesDraft>) => void;
}

export function AllowFields({ form, path, draft, onChange }: Props) {
  const choices = useSignal<Readonly<Record<(typeof chosen)[number], readonly RuleChoice[]>> | null>(null);
  useEffect(() => {
    void readChoices().then((found) => (choices.value = found));
  }, []);
  const setList = (name: ListName, list: readonly string[]) =>
    onChange({ lists: { ...draft.lists, [name]: list } });
  // Only at first: it stays open while its last entry is taken out.
  const wasUsed = useMemo(
    () => Object.values(draft.lists).some((list) => list.length > 0) || draft.when !== undefined,
    [],
  );
  return (
    <details class="group" open={wasUsed}>
      <summary>{words.title}</summary>
      <p class="small muted">{words.hint}</p>
      {chosen.map((name) => (
        <ChoiceList
          key={name}
          label={words.lists[name]}
          choices={choices.value?.[name] ?? []}
          list={draft.lists[name]}
          onChange={(list) => setList(name, list)}
        />
      ))}
      {written.map((name) => (
        <Field
          key={name}
          form={form}
          name={`${path}.${name}`}
          label={words.lists[name]}
          hint={words.listHints[name]}
        >
          {(attributes) => (
            <input
              type="text"
              {...attributes}
              // Read when the field is left, so that commas can be typed.
              defaultValue={draft.lists[name].join(", ")}
              onChange={({ currentTarget }) => setList(name, splitList(currentTarget.value))}
            />
          )}
        </Field>
      ))}
      {draft.when !== undefined && (
        <>
          <p class="small muted">{words.when}</p>
          <pre class="json">{JSON.stringify(draft.when, null, 2)}</pre>
          <div class="row">
            <button type="button" onClick={() => onChange({ when: undefined })}>
              {words.removeWhen}
            </button>
          </div>
        </>
      )}
    </details>
  );
}

function splitList(text: string): string[] {
  return text.split(/[\s,;]+/).filter((part) => part !== "");
}

interface ListProps {
  readonly label: string;
  readonly choices: readonly RuleChoice[];
  readonly list: readonly string[];
  readonly onChange: (list: readonly string[]) => void;
}

/** What is in the list and is no choice any more can be taken out. */
function ChoiceList({ label, choices, list, onChange }: ListProps) {
  const known = new Set(choices.map(({ value }) => value));
  const rest = list.filter((value) => !known.has(value)).map((value) => ({ value, label: value }));
  const all = [...choices, ...rest];
  if (all.length === 0) {
    return null;
  }
  return (
    <fieldset>
      <legend class="small muted">{label}</legend>
      <div class="choices">
        {all.map((choice) => (
          <label key={choice.value} class="check">
            <input
              type="checkbox"
              checked={list.includes(choice.value)}
              onChange={({ currentTarget }) =>
                onChange(
                  currentTarget.checked
                    ? [...list, choice.value]
                    : list.filter((value) => value !== choice.value),
                )
              }
            />
            {choice.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
