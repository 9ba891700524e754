/** One key: what is known of it, its rules and budgets, and its end. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { ConfirmDialog } from "../../controls/confirm-dialog.tsx";
import { Form, FormEnd, useForm } from "../../controls/form.tsx";
import { showToast } from "../../controls/toast.tsx";
import { readDirectory } from "../../inbox/directory.ts";
import { call } from "../../service/call.ts";
import { texts } from "../../texts.ts";
import { Loaded } from "../loaded.tsx";
import { describeRules } from "../rules/describe-rules.ts";
import { fromDraft, toDraft } from "../rules/draft.ts";
import { RulesEditor } from "../rules/rules-editor.tsx";
import { useSaveParts } from "../save-parts.ts";
import { KeyFacts, KeyState } from "./key-facts.tsx";
import { type ApiKey, readKey } from "./read-keys.ts";

const { keys: words, rules: ruleWords } = texts.settings;

export function KeyDetail({ id }: { readonly id: string }) {
  useEffect(() => {
    readDirectory().catch(() => undefined);
  }, []);
  return (
    <div class="stack">
      <a href="/console/settings/keys">{words.back}</a>
      <Loaded read={() => readKey(id)}>{(key, stored) => <Shown apiKey={key} stored={stored} />}</Loaded>
    </div>
  );
}

interface ShownProps {
  readonly apiKey: ApiKey;
  readonly stored: Signal<ApiKey | null>;
}

function Shown({ apiKey, stored }: ShownProps) {
  const isRevoking = useSignal(false);
  const { route } = useLocation();
  const revoke = async () => {
    await call("delete_api_key", { id: apiKey.id });
    showToast(words.revoked);
    route("/console/settings/keys");
  };
  return (
    <>
      <header class="row">
        <h2>{apiKey.name}</h2>
        <KeyState apiKey={apiKey} />
      </header>
      <KeyFacts apiKey={apiKey} />
      <h3>{ruleWords.title}</h3>
      <ul class="bullets" aria-label={ruleWords.title}>
        {describeRules(apiKey.rules, apiKey.budget_use).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <KeyRules apiKey={apiKey} onRead={(next) => (stored.value = next)} />
      <h3>{words.revokeTitle}</h3>
      <div class="row">
        <button type="button" class="danger" onClick={() => (isRevoking.value = true)}>
          {words.revoke}
        </button>
      </div>
      {isRevoking.value && (
        <ConfirmDialog
          title={words.revokeQuestion(apiKey.name)}
          label={words.revokeNow}
          act={revoke}
          onClose={() => (isRevoking.value = false)}
        >
          <p>{words.revokeHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface RulesProps {
  readonly apiKey: ApiKey;
  readonly onRead: (key: ApiKey) => void;
}

function KeyRules({ apiKey, onRead }: RulesProps) {
  const form = useForm();
  const draft = useSignal(toDraft(apiKey.rules));
  const save = useSaveParts({
    shown: apiKey,
    read: () => readKey(apiKey.id),
    write: async (part: Pick<ApiKey, "rules">) =>
      (await call("set_api_key_rules", { id: apiKey.id, ...part })).data,
    onRead,
  });
  const submit = () => void form.run(() => save({ rules: fromDraft(draft.value) }));
  return (
    <Form form={form} onSubmit={submit}>
      <RulesEditor form={form} path="rules" draft={draft} use={apiKey.budget_use} />
      <FormEnd form={form} label={words.saveRules} />
    </Form>
  );
}
