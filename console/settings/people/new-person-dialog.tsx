/** Adds a person with a role and a first password, and shows once what the person needs to sign in. */
import { useSignal } from "@preact/signals";
import { Dialog } from "../../controls/dialog.tsx";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { call } from "../../service/call.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import type { Role } from "./person.ts";
import { RoleChoice } from "./role-choice.tsx";
import { SignInDetails } from "./sign-in-details.tsx";

const words = texts.people;

interface Props {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

interface Created {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export function NewPersonDialog({ onCreated, onClose }: Props) {
  const created = useSignal<Created | null>(null);
  const { value } = created;
  return (
    <Dialog title={value === null ? words.add : words.created.title(value.name)} onClose={onClose}>
      {value === null ? (
        <NewPersonForm
          onCreated={(next) => {
            created.value = next;
            onCreated();
          }}
        />
      ) : (
        <SignInDetails {...value} onDone={onClose} />
      )}
    </Dialog>
  );
}

function NewPersonForm({ onCreated }: { onCreated: (created: Created) => void }) {
  const form = useForm();
  const name = useSignal("");
  const email = useSignal("");
  const role = useSignal<Role>("agent");
  const password = useSignal("");
  const once = useOnce([name.value, email.value, role.value, password.value]);
  const create = async () => {
    const chosen = password.value === "" ? {} : { password: password.value };
    const input = { name: name.value, email: email.value.trim(), role: role.value, ...chosen };
    const { data } = await once((options) => call("create_user", input, options));
    onCreated({ ...data, password: data.password ?? password.value });
  };
  return (
    <Form form={form} onSubmit={() => void form.run(create)}>
      <TextField
        form={form}
        name="name"
        label={words.form.name}
        autocomplete="off"
        value={name.value}
        onValue={(next) => (name.value = next)}
      />
      <TextField
        form={form}
        name="email"
        type="email"
        label={words.form.email}
        hint={words.form.emailHint}
        autocomplete="off"
        value={email.value}
        onValue={(next) => (email.value = next)}
      />
      <RoleChoice form={form} value={role.value} onValue={(next) => (role.value = next)} />
      <TextField
        form={form}
        name="password"
        label={words.form.password}
        hint={words.form.passwordHint}
        autocomplete="off"
        value={password.value}
        onValue={(next) => (password.value = next)}
      />
      <FormEnd form={form} label={words.form.create} />
    </Form>
  );
}
