/** The section of the person's own account: name, e-mail address, password and sessions. */
import { useSignal } from "@preact/signals";
import { Form, FormEnd, type FormState, TextField, useForm } from "../controls/form.tsx";
import { showToast } from "../controls/toast.tsx";
import { call } from "../service/call.ts";
import { ServiceError } from "../service/errors.ts";
import { texts } from "../texts.ts";
import { changePassword, renewSession, session } from "./session.ts";
import { SessionsDialog } from "./sessions-dialog.tsx";

const { account: words } = texts;

export function SettingsAccount() {
  const showsSessions = useSignal(false);
  const user = session.value?.user;
  if (user === undefined) {
    return null;
  }
  const roles: Readonly<Record<string, string>> = texts.people.roles;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.role(roles[user.role] ?? user.role)}</p>
      <NameForm present={user.name} />
      <EmailForm present={user.email} />
      <PasswordForm email={user.email} />
      <section class="stack">
        <h3>{texts.sessions.title}</h3>
        <p class="muted">{words.sessionsHint}</p>
        <div class="row">
          <button type="button" onClick={() => (showsSessions.value = true)}>
            {words.showSessions}
          </button>
        </div>
      </section>
      {showsSessions.value && <SessionsDialog onClose={() => (showsSessions.value = false)} />}
    </div>
  );
}

function NameForm({ present }: { present: string }) {
  const form = useForm();
  const name = useSignal(present);
  const save = async () => {
    await call("update_profile", { name: name.value });
    // The bar at the top shows the name.
    await renewSession();
    showToast(texts.form.saved);
  };
  return (
    <section class="stack" aria-label={words.name.title}>
      <h3>{words.name.title}</h3>
      <Form form={form} onSubmit={() => void form.run(save)}>
        <TextField
          form={form}
          name="name"
          label={words.name.label}
          hint={words.name.hint}
          autocomplete="name"
          value={name.value}
          onValue={(next) => (name.value = next)}
        />
        <FormEnd form={form} label={words.name.save} />
      </Form>
    </section>
  );
}

function EmailForm({ present }: { present: string }) {
  const form = useForm();
  const email = useSignal(present);
  const password = useSignal("");
  const save = async () => {
    const input = { email: present, password: password.value, new_email: email.value.trim() };
    await withPasswordField("password", () => call("change_email", input));
    await renewSession();
    password.value = "";
    showToast(words.email.saved);
  };
  return (
    <section class="stack" aria-label={words.email.title}>
      <h3>{words.email.title}</h3>
      <Form form={form} onSubmit={() => void form.run(save)}>
        <TextField
          form={form}
          name="new_email"
          type="email"
          label={words.email.label}
          hint={words.email.hint}
          autocomplete="username"
          value={email.value}
          onValue={(next) => (email.value = next)}
        />
        <PasswordField
          form={form}
          name="password"
          label={words.email.password}
          value={password.value}
          onValue={(next) => (password.value = next)}
        />
        <FormEnd form={form} label={words.email.save} />
      </Form>
    </section>
  );
}

function PasswordForm({ email }: { email: string }) {
  const form = useForm();
  const current = useSignal("");
  const next = useSignal("");
  const again = useSignal("");
  const save = async () => {
    if (next.value !== again.value) {
      throw toFieldError("again", words.password.different);
    }
    await withPasswordField("password", () =>
      changePassword({ email, password: current.value, new_password: next.value }),
    );
    for (const field of [current, next, again]) {
      field.value = "";
    }
    showToast(words.password.saved);
  };
  return (
    <section class="stack" aria-label={words.password.title}>
      <h3>{words.password.title}</h3>
      <p class="muted">{words.password.lost}</p>
      <Form form={form} onSubmit={() => void form.run(save)}>
        <PasswordField
          form={form}
          name="password"
          label={words.password.current}
          value={current.value}
          onValue={(value) => (current.value = value)}
        />
        <PasswordField
          form={form}
          name="new_password"
          label={words.password.next}
          hint={words.password.nextHint}
          isNew
          value={next.value}
          onValue={(value) => (next.value = value)}
        />
        <PasswordField
          form={form}
          name="again"
          label={words.password.again}
          isNew
          value={again.value}
          onValue={(value) => (again.value = value)}
        />
        <FormEnd form={form} label={words.password.save} />
      </Form>
    </section>
  );
}

interface PasswordProps {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Whether the browser may propose one. */
  readonly isNew?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function PasswordField({ isNew = false, ...field }: PasswordProps) {
  return <TextField {...field} type="password" autocomplete={isNew ? "new-password" : "current-password"} />;
}

/** Runs an act that takes the present password; a wrong one is an error of its field. */
async function withPasswordField(field: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw error instanceof ServiceError && error.code === "login_failed"
      ? toFieldError(field, words.wrongPassword)
      : error;
  }
}

function toFieldError(field: string, message: string): ServiceError {
  return new ServiceError(400, "invalid_request", message, { details: [{ field, message }] });
}
