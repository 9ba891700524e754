/** The fields of credentials, each with its place on Meta's pages. */
import type { Signal } from "@preact/signals";
import { type FormState, TextField } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { type CheckStates, type CredentialName, type Credentials, pathOf } from "./credentials.ts";

const words = texts.channels.inboxes.setup;

interface Props {
  readonly form: FormState;
  readonly names: readonly CredentialName[];
  readonly values: Signal<Credentials>;
}

const secrets: readonly string[] = ["app_secret", "access_token"];

export function CredentialFields({ form, names, values }: Props) {
  return (
    <>
      {names.map((name) => (
        <TextField
          key={name}
          form={form}
          name={pathOf(name)}
          label={words.fields[name].label}
          hint={words.fields[name].hint}
          type={secrets.includes(name) ? "password" : "text"}
          autocomplete="off"
          value={values.value[name]}
          onValue={(value) => (values.value = { ...values.value, [name]: value })}
        />
      ))}
    </>
  );
}

/** What Meta has said of each check. */
export function CheckList({ states }: { states: CheckStates }) {
  return (
    <ul class="checks" role="status">
      {Object.entries(words.checks).map(([name, text]) => {
        // The keys of both are the checks.
        const state = states[name as keyof CheckStates];
        return (
          <li key={name} data-state={state}>
            <strong>{words.results[state]}</strong>
            <span>{text}</span>
          </li>
        );
      })}
    </ul>
  );
}
