/** New credentials for a WhatsApp inbox: all of them, checked at Meta before they replace the former ones. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Form, FormEnd, useForm } from "../../controls/form.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { texts } from "../../texts.ts";
import { CheckList, CredentialFields } from "./credential-fields.tsx";
import {
  accountFields,
  appFields,
  emptyCredentials,
  findMistakes,
  readRejection,
  trimAll,
  untested,
} from "./credentials.ts";
import type { Inbox } from "./inbox-state.ts";
import { rememberToken } from "./verify-tokens.ts";

const { credentials: words, setup } = texts.channels.inboxes;
const fields = [...accountFields, ...appFields];

interface Props {
  readonly inbox: Inbox;
  readonly onReplaced: (inbox: Inbox) => void;
}

export function ReplaceCredentials({ inbox, onReplaced }: Props) {
  const form = useForm();
  const isOpen = useSignal(false);
  const values = useSignal(useMemo(emptyCredentials, []));
  const checks = useSignal(untested);
  const replace = async () => {
    checks.value = untested;
    const credentials = trimAll(values.value);
    try {
      const { data } = await call("update_inbox", { id: inbox.id, credentials });
      rememberToken(inbox.id, credentials.verify_token);
      isOpen.value = false;
      values.value = emptyCredentials();
      onReplaced(data);
      showToast(setup.replaced);
    } catch (error) {
      const rejection = readRejection(error);
      checks.value = rejection?.states ?? untested;
      throw rejection?.error ?? error;
    }
  };
  const submit = () => {
    const mistakes = findMistakes(fields, values.value);
    form.fieldProblems.value = mistakes;
    form.problem.value = mistakes.size === 0 ? "" : texts.form.correct;
    if (mistakes.size === 0) {
      void form.run(replace);
    }
  };
  return (
    <section class="stack">
      <h3>{words.title}</h3>
      <p class="muted">{words.about}</p>
      {isOpen.value ? (
        <Form form={form} onSubmit={submit}>
          <CredentialFields form={form} names={fields} values={values} />
          {checks.value !== untested && <CheckList states={checks.value} />}
          <FormEnd form={form} label={setup.replace}>
            <button type="button" onClick={() => (isOpen.value = false)}>
              {texts.cancel}
            </button>
          </FormEnd>
        </Form>
      ) : (
        <div class="row">
          <button type="button" onClick={() => (isOpen.value = true)}>
            {words.open}
          </button>
        </div>
      )}
    </section>
  );
}
