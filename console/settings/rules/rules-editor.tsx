/** The fields of rules: what waits for a person, what is allowed at all, and budgets. */
import type { Signal } from "@preact/signals";
import { Field, type FormState, TextField } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { AllowFields } from "./allow-fields.tsx";
import { BudgetFields } from "./budget-fields.tsx";
import { type BudgetUse, limits, type RulesDraft, switches } from "./draft.ts";
import { withCurrency } from "./money-label.ts";

const { rules: words } = texts.settings;
const modes = ["auto", "plan", "confirm", "approve"] as const;

interface Props {
  readonly form: FormState;
  /** The path of the rules in the operation's input. */
  readonly path: string;
  readonly draft: Signal<RulesDraft>;
  /** What is used of the budgets; null: there are none. */
  readonly use: BudgetUse | null;
}

export function RulesEditor({ form, path, draft, use }: Props) {
  const { value } = draft;
  const change = (part: Partial<RulesDraft>) => {
    draft.value = { ...draft.value, ...part };
  };
  return (
    <>
      <Field form={form} name={`${path}.mode`} label={words.mode} hint={words.modeHints[value.mode]}>
        {(attributes) => (
          <select
            {...attributes}
            value={value.mode}
            onChange={({ currentTarget }) =>
              change({ mode: modes.find((mode) => mode === currentTarget.value) ?? "auto" })
            }
          >
            {modes.map((mode) => (
              <option key={mode} value={mode}>
                {words.modes[mode]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <fieldset class="group">
        <legend>{words.approve}</legend>
        <div class="columns">
          {limits.map((name) => (
            <TextField
              key={name}
              form={form}
              name={`${path}.approve.${name}`}
              label={name === "amount_above" ? withCurrency(words.limits[name]) : words.limits[name]}
              placeholder={words.noLimit}
              value={value.limits[name]}
              onValue={(text) => change({ limits: { ...value.limits, [name]: text } })}
            />
          ))}
        </div>
        {switches.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={value.switches[name]}
              onChange={({ currentTarget }) =>
                change({ switches: { ...value.switches, [name]: currentTarget.checked } })
              }
            />
            {words.switches[name]}
          </label>
        ))}
      </fieldset>
      <BudgetFields
        form={form}
        path={`${path}.budgets`}
        draft={value.budgets}
        use={use}
        onChange={(budgets) => change({ budgets })}
      />
      <AllowFields form={form} path={`${path}.allow`} draft={value} onChange={change} />
    </>
  );
}
