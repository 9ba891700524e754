/** The role of a person, with what each role may do. */
import { Field, type FormState } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { mayGive, type Role, roleNames } from "./person.ts";

const words = texts.people;

interface Props {
  readonly form: FormState;
  readonly value: Role;
  readonly isDisabled?: boolean;
  readonly onValue: (role: Role) => void;
}

export function RoleChoice({ form, value, isDisabled = false, onValue }: Props) {
  return (
    <>
      <Field form={form} name="role" label={words.form.role} hint={words.rolesAbout[value]}>
        {(attributes) => (
          <select
            {...attributes}
            value={value}
            disabled={isDisabled}
            // The values of the options are the roles.
            onChange={({ currentTarget }) => onValue(currentTarget.value as Role)}
          >
            {roleNames
              .filter((role) => mayGive(role) || role === value)
              .map((role) => (
                <option key={role} value={role}>
                  {words.roles[role]}
                </option>
              ))}
          </select>
        )}
      </Field>
      <details>
        <summary class="small">{words.allRoles}</summary>
        <dl class="stack">
          {roleNames.map((role) => (
            <div key={role}>
              <dt>
                <strong>{words.roles[role]}</strong>
              </dt>
              <dd class="small muted">{words.rolesAbout[role]}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
