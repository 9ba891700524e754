/** One person: name and role, a new password, and whether the person can sign in. */
import { useSignal } from "@preact/signals";
import { attempt } from "../../controls/attempt.ts";
import { ConfirmDialog } from "../../controls/confirm-dialog.tsx";
import { Dialog } from "../../controls/dialog.tsx";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { showToast } from "../../controls/toast.tsx";
import { useReading } from "../../service/reading.ts";
import { holdsScope, session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { useSaveParts } from "../save-parts.ts";
import { changePerson, findPerson, makePassword, mayGive, type Person } from "./person.ts";
import { RoleChoice } from "./role-choice.tsx";
import { SignInDetails } from "./sign-in-details.tsx";

const words = texts.people;

export function PersonDetail({ id }: { id: string }) {
  const { value, problem, reload } = useReading(() => findPerson(id), id);
  const person = value.value;
  return (
    <div class="stack">
      <p>
        <a class="row" href="/console/settings/people">
          <Icon name="back" size={18} />
          {words.back}
        </a>
      </p>
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {person === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <Shown person={person} onChanged={() => void reload()} />
      )}
    </div>
  );
}

interface Props {
  readonly person: Person;
  readonly onChanged: () => void;
}

function Shown({ person, onChanged }: Props) {
  const isForOwners = !mayGive(person.role);
  const mayChange = holdsScope("tokens:create") && !isForOwners;
  return (
    <>
      <div class="row">
        <h2>{person.name}</h2>
        {person.id === session.value?.user.id && <span class="chip">{words.you}</span>}
        <span class={`chip ${person.is_active ? "good" : "bad"}`}>
          {person.is_active ? words.active : words.inactive}
        </span>
      </div>
      <p class="muted">{person.email}</p>
      {!mayChange && (
        <p class="notice">{holdsScope("tokens:create") && isForOwners ? words.ownerAlone : words.readOnly}</p>
      )}
      <PersonForm person={person} mayChange={mayChange} onChanged={onChanged} />
      {mayChange && (
        <div class="row">
          <NewPassword person={person} />
          <Activity person={person} onChanged={onChanged} />
        </div>
      )}
    </>
  );
}

function PersonForm({ person, mayChange, onChanged }: Props & { mayChange: boolean }) {
  const form = useForm();
  const name = useSignal(person.name);
  const role = useSignal(person.role);
  const { id } = person;
  const save = useSaveParts({
    shown: person,
    read: () => findPerson(id),
    write: (part: Pick<Person, "name" | "role">) => changePerson({ id, ...part }),
    onRead: onChanged,
  });
  return (
    <Form form={form} onSubmit={() => void form.run(() => save({ name: name.value, role: role.value }))}>
      <TextField
        form={form}
        name="name"
        label={words.form.name}
        disabled={!mayChange}
        value={name.value}
        onValue={(next) => (name.value = next)}
      />
      <RoleChoice
        form={form}
        value={role.value}
        isDisabled={!mayChange}
        onValue={(next) => (role.value = next)}
      />
      {mayChange && <FormEnd form={form} label={words.form.save} />}
    </Form>
  );
}

function NewPassword({ person }: { person: Person }) {
  const isAsked = useSignal(false);
  const password = useSignal("");
  const close = () => {
    password.value = "";
    isAsked.value = false;
  };
  const { reset } = words;
  return (
    <>
      <button type="button" onClick={() => (isAsked.value = true)}>
        {reset.open}
      </button>
      {isAsked.value && password.value === "" && (
        <ConfirmDialog
          title={reset.title(person.name)}
          label={reset.act}
          act={async () => {
            const next = makePassword();
            await changePerson({ id: person.id, password: next });
            password.value = next;
          }}
          onClose={() => {
            isAsked.value = password.value !== "";
          }}
        >
          <p>{reset.about}</p>
        </ConfirmDialog>
      )}
      {password.value !== "" && (
        <Dialog title={words.created.title(person.name)} onClose={close}>
          <SignInDetails email={person.email} password={password.value} onDone={close} />
        </Dialog>
      )}
    </>
  );
}

function Activity({ person, onChanged }: Props) {
  const isAsked = useSignal(false);
  const { deactivate, activate } = words;
  if (!person.is_active) {
    const run = async () => {
      await changePerson({ id: person.id, is_active: true });
      showToast(activate.done(person.name));
      onChanged();
    };
    return (
      <button type="button" onClick={() => void attempt(run)}>
        {activate.act}
      </button>
    );
  }
  return (
    <>
      <button type="button" onClick={() => (isAsked.value = true)}>
        {deactivate.open}
      </button>
      {isAsked.value && (
        <ConfirmDialog
          title={deactivate.title(person.name)}
          label={deactivate.act}
          act={async () => {
            await changePerson({ id: person.id, is_active: false });
            showToast(deactivate.done(person.name));
            onChanged();
          }}
          onClose={() => (isAsked.value = false)}
        >
          <p>{deactivate.about}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
