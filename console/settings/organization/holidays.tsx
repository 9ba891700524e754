/** Days on which the organization is closed. */
import type { Signal } from "@preact/signals";
import { Field, type FormState, TextField, useFieldProblem } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import type { Hours } from "./organization.ts";

const { hours: words } = texts.settings;

type Holiday = Hours["holidays"][number];

interface Props {
  readonly form: FormState;
  readonly hours: Signal<Hours>;
}

export function Holidays({ form, hours }: Props) {
  const problem = useFieldProblem(form, "business_hours.holidays");
  const { holidays } = hours.value;
  const set = (next: Hours["holidays"]) => {
    hours.value = { ...hours.value, holidays: next };
  };
  const change = (index: number, next: Holiday) =>
    set(holidays.map((holiday, at) => (at === index ? next : holiday)));
  return (
    <fieldset class="group">
      <legend>{words.holidays}</legend>
      {holidays.map(({ date, name }, index) => (
        <div key={index} class="interval day">
          <Field form={form} name={`business_hours.holidays[${index}].date`} label={words.date}>
            {(attributes) => (
              <input
                type="date"
                {...attributes}
                value={date}
                onInput={({ currentTarget }) => change(index, { date: currentTarget.value, ...named(name) })}
              />
            )}
          </Field>
          <TextField
            form={form}
            name={`business_hours.holidays[${index}].name`}
            label={words.holidayName}
            value={name ?? ""}
            onValue={(next) => change(index, { date, ...named(next) })}
          />
          <button
            type="button"
            class="plain icon"
            aria-label={words.removeHoliday(name ?? date)}
            onClick={() => set(holidays.filter((_, at) => at !== index))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {problem !== undefined && <p class="small error">{problem}</p>}
      <div class="row">
        <button type="button" onClick={() => set([...holidays, { date: "" }])}>
          {words.addHoliday}
        </button>
      </div>
    </fieldset>
  );
}

/** An empty name is none. */
function named(name: string | undefined): Pick<Holiday, "name"> {
  return name === undefined || name === "" ? {} : { name };
}
