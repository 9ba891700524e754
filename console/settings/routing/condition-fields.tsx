/** The conditions of a policy: rows of what is compared and with what. */
import { useId } from "preact/hooks";
import { Choice } from "../../controls/choice.tsx";
import { Field, type FormState } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { listCountries } from "../organization/places.ts";
import { type ConditionKind, type ConditionRow, type Conditions, conditionKinds } from "./conditions.ts";
import type { NamedRecords } from "./policies.ts";

const words = texts.routing.form;

interface Props {
  readonly form: FormState;
  readonly conditions: Conditions;
  readonly named: NamedRecords;
  readonly onConditions: (conditions: Conditions) => void;
}

export function ConditionFields({ form, conditions, named, onConditions }: Props) {
  const { mode, rows, json } = conditions;
  if (json !== null) {
    return (
      <Field form={form} name="conditions" label={words.advanced} hint={words.advancedHint}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={8}
            value={json}
            onInput={({ currentTarget }) => onConditions({ ...conditions, json: currentTarget.value })}
          />
        )}
      </Field>
    );
  }
  const setRows = (next: readonly ConditionRow[]) => onConditions({ ...conditions, rows: next });
  return (
    <fieldset class="stack">
      <legend class="small muted">{words.conditions}</legend>
      {rows.length === 0 && <p class="small">{words.noConditions}</p>}
      {rows.length > 1 && (
        <Choice
          form={form}
          name="conditions.mode"
          label={words.mode}
          options={words.modes}
          value={mode}
          onValue={(next) => onConditions({ ...conditions, mode: next })}
        />
      )}
      {rows.map((row, index) => (
        <RowFields
          key={index}
          row={row}
          place={index + 1}
          named={named}
          onRow={(next) => setRows(rows.with(index, next))}
          onRemove={() => setRows(rows.toSpliced(index, 1))}
        />
      ))}
      <div class="row">
        <button type="button" onClick={() => setRows([...rows, { kind: "text", value: "" }])}>
          {words.addCondition}
        </button>
      </div>
    </fieldset>
  );
}

interface RowProps {
  readonly row: ConditionRow;
  readonly place: number;
  readonly named: NamedRecords;
  readonly onRow: (row: ConditionRow) => void;
  readonly onRemove: () => void;
}

function RowFields({ row, place, named, onRow, onRemove }: RowProps) {
  const id = useId();
  const change = (kind: ConditionKind) => onRow({ kind, value: firstValue(kind, named) });
  return (
    <div class="condition">
      <label>
        {words.what(place)}
        <select
          value={row.kind}
          // The values of the options are the kinds.
          onChange={({ currentTarget }) => change(currentTarget.value as ConditionKind)}
        >
          {conditionKinds.map((kind) => (
            <option key={kind} value={kind}>
              {words.kinds[kind]}
            </option>
          ))}
        </select>
      </label>
      <div class="field">
        <label for={id}>{words.value(place)}</label>
        <ValueInput id={id} row={row} named={named} onValue={(value) => onRow({ ...row, value })} />
      </div>
      <button type="button" aria-label={words.removeCondition(place)} onClick={onRemove}>
        {words.remove}
      </button>
    </div>
  );
}

interface ValueProps {
  readonly id: string;
  readonly row: ConditionRow;
  readonly named: NamedRecords;
  readonly onValue: (value: string) => void;
}

function ValueInput({ id, row: { kind, value }, named, onValue }: ValueProps) {
  const options = optionsOf(kind, named);
  if (options === undefined) {
    return <input id={id} value={value} onInput={({ currentTarget }) => onValue(currentTarget.value)} />;
  }
  return (
    <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
      {options.map(({ id: option, name }) => (
        <option key={option} value={option}>
          {name}
        </option>
      ))}
    </select>
  );
}

function optionsOf(kind: ConditionKind, { inboxes }: NamedRecords) {
  if (kind === "inbox") {
    return inboxes.map(({ id, name }) => ({ id, name }));
  }
  return kind === "country" ? listCountries().map(({ code, name }) => ({ id: code, name })) : undefined;
}

function firstValue(kind: ConditionKind, named: NamedRecords): string {
  return optionsOf(kind, named)?.[0]?.id ?? "";
}
