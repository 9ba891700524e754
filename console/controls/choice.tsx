/** A field with a few named values. */
import { Field, type FormState } from "./form.tsx";

interface Props<Value extends string> {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The values with their texts, in the order in which they are listed. */
  readonly options: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onValue: (value: Value) => void;
}

export function Choice<Value extends string>({ options, value, onValue, ...field }: Props<Value>) {
  const entries = Object.entries<string>(options);
  return (
    <Field {...field}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          // The values of the options are the keys of `options`.
          onChange={({ currentTarget }) => onValue(currentTarget.value as Value)}
        >
          {entries.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
