/** The fields of budgets: limits of a day and a month, with what is used of them. */
import { Field, type FormState, TextField } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import { type BudgetDraft, type BudgetUse, budgetKinds, budgetPeriods } from "./draft.ts";
import { withCurrency } from "./money-label.ts";

const { budgets: words } = texts.settings;

interface Props {
  readonly form: FormState;
  /** The path of the budgets in the operation's input. */
  readonly path: string;
  readonly draft: BudgetDraft;
  readonly use: BudgetUse | null;
  readonly onChange: (draft: BudgetDraft) => void;
}

export function BudgetFields({ form, path, draft, use, onChange }: Props) {
  return (
    <fieldset class="group">
      <legend>{words.title}</legend>
      <p class="small muted">{words.hint}</p>
      <div class="columns">
        {budgetKinds.flatMap((kind) =>
          budgetPeriods.map((period) => (
            <TextField
              key={`${kind}.${period}`}
              form={form}
              name={`${path}.${kind}.${period}`}
              label={
                kind === "spend"
                  ? withCurrency(words.limits[`${kind}.${period}`])
                  : words.limits[`${kind}.${period}`]
              }
              placeholder={texts.settings.rules.noLimit}
              hint={describeUse(use, kind, period)}
              value={draft.amounts[`${kind}.${period}`]}
              onValue={(text) =>
                onChange({ ...draft, amounts: { ...draft.amounts, [`${kind}.${period}`]: text } })
              }
            />
          )),
        )}
      </div>
      <Field form={form} name={`${path}.beyond`} label={words.beyond}>
        {(attributes) => (
          <select
            {...attributes}
            value={draft.beyond}
            onChange={({ currentTarget }) =>
              onChange({ ...draft, beyond: currentTarget.value === "refuse" ? "refuse" : "park" })
            }
          >
            <option value="park">{words.park}</option>
            <option value="refuse">{words.refuse}</option>
          </select>
        )}
      </Field>
    </fieldset>
  );
}

/** Undefined where the service counts nothing. */
function describeUse(
  use: BudgetUse | null,
  kind: (typeof budgetKinds)[number],
  period: (typeof budgetPeriods)[number],
): string | undefined {
  const found = use?.[kind][period];
  if (found === undefined || found.limit === null) {
    return undefined;
  }
  const simulated = "used_simulated" in found ? found.used_simulated : 0;
  return [
    words.used(found.used, found.limit, formatMoment(found.renews_at)),
    ...(simulated > 0 ? [words.usedSimulated(simulated)] : []),
  ].join(" ");
}
