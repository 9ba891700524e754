/** The editor of business hours: several times a weekday, and days that are closed. */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Form, FormEnd, type FormState, TextField, useFieldProblem, useForm } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { Holidays } from "./holidays.tsx";
import type { Hours, Organization, SaveOrganization } from "./organization.ts";

const { hours: words } = texts.settings;

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
type Day = (typeof days)[number];

const workday = [{ from: "09:00", to: "17:00" }];
/** For who begins with no hours. */
const firstHours: Hours = {
  monday: workday,
  tuesday: workday,
  wednesday: workday,
  thursday: workday,
  friday: workday,
  saturday: [],
  sunday: [],
  holidays: [],
};

interface Props {
  readonly organization: Organization;
  readonly save: SaveOrganization;
  /** The chosen time zone; it is saved with the hours. */
  readonly zone: Signal<string>;
}

export function HoursForm({ organization, save, zone }: Props) {
  const form = useForm();
  const isAlwaysOpen = useSignal(organization.business_hours === null);
  const hours = useSignal(organization.business_hours ?? firstHours);
  const mayChange = holdsScope("tokens:create");
  const submit = () =>
    save({
      business_hours: isAlwaysOpen.value ? null : hours.value,
      ...(zone.value !== organization.time_zone && { time_zone: zone.value }),
    });
  return (
    <section class="stack" aria-label={words.title}>
      <h3>{words.title}</h3>
      <p class="small muted">{words.use}</p>
      <p class="small muted">{words.hint(zone.value)}</p>
      <Form form={form} onSubmit={() => void form.run(submit)}>
        <label class="check">
          <input
            type="checkbox"
            disabled={!mayChange}
            checked={isAlwaysOpen.value}
            onChange={({ currentTarget }) => (isAlwaysOpen.value = currentTarget.checked)}
          />
          {words.always}
        </label>
        {!isAlwaysOpen.value && (
          <fieldset class="stack" disabled={!mayChange}>
            <legend class="visually-hidden">{words.title}</legend>
            {days.map((day) => (
              <DayFields key={day} form={form} day={day} hours={hours} />
            ))}
            <Holidays form={form} hours={hours} />
          </fieldset>
        )}
        {mayChange && <FormEnd form={form} label={words.save} />}
      </Form>
    </section>
  );
}

interface DayProps {
  readonly form: FormState;
  readonly day: Day;
  readonly hours: Signal<Hours>;
}

function DayFields({ form, day, hours }: DayProps) {
  const problem = useFieldProblem(form, `business_hours.${day}`);
  const addButton = useRef<HTMLButtonElement>(null);
  const intervals = hours.value[day];
  const set = (next: Hours[Day]) => {
    hours.value = { ...hours.value, [day]: next };
  };
  const change = (index: number, part: Partial<Hours[Day][number]>) =>
    set(intervals.map((interval, at) => (at === index ? { ...interval, ...part } : interval)));
  const name = words.days[day];
  return (
    <fieldset class="group">
      <legend>{name}</legend>
      {intervals.length === 0 && <p class="muted">{words.closed}</p>}
      {intervals.map((interval, index) => (
        // An interval has no id, and its place is what the service names.
        <div key={index} class="interval">
          {(["from", "to"] as const).map((end) => (
            <TextField
              key={end}
              form={form}
              name={`business_hours.${day}[${index}].${end}`}
              label={words[end]}
              value={interval[end]}
              onValue={(next) => change(index, { [end]: withTwoDigits(next) })}
            />
          ))}
          <button
            type="button"
            class="plain icon"
            aria-label={words.remove(name, interval.from, interval.to)}
            onClick={() => {
              set(intervals.filter((_, at) => at !== index));
              // The button that had the focus is gone.
              addButton.current?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {problem !== undefined && <p class="small error">{problem}</p>}
      <div class="row">
        <button
          ref={addButton}
          type="button"
          aria-label={words.addTo(name)}
          onClick={() => set([...intervals, { from: "09:00", to: "17:00" }])}
        >
          {words.add}
        </button>
      </div>
    </fieldset>
  );
}

/** `8:00` as the service has it. */
function withTwoDigits(time: string): string {
  return /^\d:\d\d$/.test(time) ? `0${time}` : time;
}
