/** The set-up of a WhatsApp number: what is entered step by step, and then checked at Meta. */
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Form, FormEnd, type FormState, TextField, useForm } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import { CheckList, CredentialFields } from "./credential-fields.tsx";
import {
  accountFields,
  appFields,
  type CredentialName,
  type Credentials,
  emptyCredentials,
  findMistakes,
  pathOf,
  readRejection,
  trimAll,
  untested,
} from "./credentials.ts";
import { StepList } from "./step-list.tsx";
import { rememberToken } from "./verify-tokens.ts";

const words = texts.channels.inboxes.setup;

/** The steps of this page; the others are on the page of the new inbox. */
const lastStep = 3;

export function WhatsAppSetup() {
  const form = useForm();
  const { route } = useLocation();
  const step = useSignal(1);
  const name = useSignal("WhatsApp");
  const phone = useSignal("");
  const values = useSignal<Credentials>(useMemo(emptyCredentials, []));
  const checks = useSignal(untested);
  const once = useOnce([name.value, phone.value, values.value]);

  const connect = async () => {
    checks.value = untested;
    const credentials = trimAll(values.value);
    const input = { name: name.value, phone_number: phone.value, channel: "whatsapp", credentials } as const;
    try {
      const { data } = await once((options) => call("create_inbox", input, options));
      rememberToken(data.id, credentials.verify_token);
      showToast(words.connected(data.name));
      route(`/console/settings/inboxes/${data.id}`);
    } catch (error) {
      const rejection = readRejection(error);
      checks.value = rejection?.states ?? untested;
      step.value = stepOf(rejection?.error ?? error);
      throw rejection?.error ?? error;
    }
  };
  const next = () => {
    if (step.value === lastStep) {
      void form.run(connect);
      return;
    }
    const mistakes = mistakesOf(step.value, { name, phone, values });
    form.fieldProblems.value = mistakes;
    form.problem.value = mistakes.size === 0 ? "" : texts.form.correct;
    step.value += mistakes.size === 0 ? 1 : 0;
  };
  return (
    <div class="stack">
      <p>
        <a class="row" href="/console/settings/inboxes">
          <Icon name="back" size={18} />
          {texts.channels.inboxes.back}
        </a>
      </p>
      <h2>{words.title}</h2>
      <StepList current={step.value} />
      <Form form={form} onSubmit={next}>
        <Steps step={step.value} form={form} name={name} phone={phone} values={values} />
        {(step.value === lastStep || checks.value !== untested) && (
          <>
            <p class="muted">{words.checkAbout}</p>
            <CheckList states={checks.value} />
          </>
        )}
        <FormEnd form={form} label={step.value === lastStep ? words.connect : words.next}>
          {step.value > 1 && (
            <button type="button" onClick={() => (step.value -= 1)}>
              {words.before}
            </button>
          )}
        </FormEnd>
      </Form>
    </div>
  );
}

interface Entered {
  readonly name: Signal<string>;
  readonly phone: Signal<string>;
  readonly values: Signal<Credentials>;
}

/** All fields stay in the form, so that an error of the service finds its field. */
function Steps({ step, form, name, phone, values }: Entered & { step: number; form: FormState }) {
  return (
    <>
      <div class="stack" hidden={step !== 1}>
        <p class="muted">
          {words.need}{" "}
          <a href="/docs/whatsapp" target="_blank" rel="noreferrer">
            {words.guide}
          </a>
        </p>
        <TextField
          form={form}
          name="name"
          label={words.fields.name.label}
          hint={words.fields.name.hint}
          value={name.value}
          onValue={(value) => (name.value = value)}
        />
        <TextField
          form={form}
          name="phone_number"
          label={words.fields.phone_number.label}
          hint={words.fields.phone_number.hint}
          value={phone.value}
          onValue={(value) => (phone.value = value)}
        />
        <CredentialFields form={form} names={accountFields} values={values} />
      </div>
      <div class="stack" hidden={step !== 2}>
        <CredentialFields form={form} names={appFields} values={values} />
      </div>
    </>
  );
}

function mistakesOf(step: number, { name, phone, values }: Entered): ReadonlyMap<string, string> {
  const texted = step === 1 ? { name: name.value, phone_number: phone.value } : {};
  const empty = Object.entries(texted).flatMap(([field, value]) =>
    value.trim() === "" ? [[field, words.required] as const] : [],
  );
  const fields = step === 1 ? accountFields : appFields;
  return new Map([...empty, ...findMistakes(fields, values.value)]);
}

/** The step with the field that the service names; without one, the last. */
function stepOf(error: unknown): number {
  const field = error instanceof ServiceError ? error.facts.param : undefined;
  const isIn = (names: readonly CredentialName[]) => names.some((name) => pathOf(name) === field);
  if (field === "name" || field === "phone_number" || isIn(accountFields)) {
    return 1;
  }
  return isIn(appFields) ? 2 : lastStep;
}
