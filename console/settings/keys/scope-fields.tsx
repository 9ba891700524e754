/** The choice of scopes: a preset, or a level of each group. */
import type { Signal } from "@preact/signals";
import { Field, type FormState } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { presets, type ScopeLevels, scopeGroups } from "./scope-groups.ts";

const { scopes: words } = texts.settings;
const presetNames = ["read", "everyday", "assistant", "everything"] as const;

interface Props {
  readonly form: FormState;
  readonly levels: Signal<ScopeLevels>;
}

export function ScopeFields({ form, levels }: Props) {
  const isChosen = (name: (typeof presetNames)[number]) =>
    scopeGroups.every((group) => presets[name][group.name] === levels.value[group.name]);
  return (
    <fieldset class="group">
      <legend>{words.title}</legend>
      <div class="row">
        {presetNames.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={isChosen(name)}
            onClick={() => (levels.value = presets[name])}
          >
            {words.presets[name]}
          </button>
        ))}
      </div>
      <p class="small muted" role="status">
        {words.presetsAbout[presetNames.find(isChosen) ?? "own"]}
      </p>
      <div class="columns">
        {scopeGroups.map(({ name, scopes }) => (
          <Field key={name} form={form} name={`scopes.${name}`} label={words.groups[name]}>
            {(attributes) => (
              <select
                {...attributes}
                value={String(levels.value[name])}
                onChange={({ currentTarget }) => {
                  levels.value = { ...levels.value, [name]: Number(currentTarget.value) };
                }}
              >
                <option value="0">{words.nothing}</option>
                {scopes.map((scope, index) => (
                  <option key={scope} value={String(index + 1)}>
                    {scopes
                      .slice(0, index + 1)
                      .map((each) => words.names[each])
                      .join(", ")}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}
