/** A new key: its name, what it may do, and when it ends. Its secret is shown once. */
import { useSignal } from "@preact/signals";
import { Field, Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { type Answer, call } from "../../service/call.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import { ScopeFields } from "./scope-fields.tsx";
import { presets, type ScopeLevels, scopesAt } from "./scope-groups.ts";
import { SecretShown } from "./secret-shown.tsx";

const { keys: words } = texts.settings;

export function KeyForm() {
  const form = useForm();
  const name = useSignal("");
  const levels = useSignal<ScopeLevels>(presets.read);
  const expires = useSignal("");
  const created = useSignal<Answer<"create_api_key">["data"] | null>(null);

  const once = useOnce([name.value, levels.value, expires.value]);
  const create = async () => {
    const input = {
      name: name.value,
      scopes: scopesAt(levels.value),
      ...(expires.value === "" ? {} : { expires_at: new Date(expires.value).toISOString() }),
    };
    // This path alone grants the scopes of the account.
    const variant = "personal";
    created.value = (await once((options) => call("create_api_key", input, { ...options, variant }))).data;
  };
  if (created.value !== null) {
    const { id, secret_key } = created.value;
    return (
      <div class="stack">
        <h2>{words.created(created.value.name)}</h2>
        <SecretShown secret={secret_key} />
        <p class="notice">{words.unbound}</p>
        <div class="row">
          <a href={`/console/settings/keys/${id}`}>{words.setRules}</a>
        </div>
      </div>
    );
  }
  return (
    <div class="stack">
      <a href="/console/settings/keys">{words.back}</a>
      <h2>{words.create}</h2>
      <Form form={form} onSubmit={() => void form.run(create)}>
        <TextField
          form={form}
          name="name"
          label={words.name}
          hint={words.nameHint}
          autocomplete="off"
          value={name.value}
          onValue={(next) => (name.value = next)}
        />
        <ScopeFields form={form} levels={levels} />
        <Field form={form} name="expires_at" label={words.expiry} hint={words.expiryHint}>
          {(attributes) => (
            <input
              type="datetime-local"
              {...attributes}
              value={expires.value}
              onInput={({ currentTarget }) => (expires.value = currentTarget.value)}
            />
          )}
        </Field>
        <FormEnd form={form} label={words.createNow} />
      </Form>
    </div>
  );
}
