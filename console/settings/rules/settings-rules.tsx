/** The section of rules: for all assistants, the budgets of the organization, and who releases plans. */
import { type Signal, useSignal } from "@preact/signals";
import { Form, FormEnd, useForm } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import { Loaded } from "../loaded.tsx";
import { useSaveParts } from "../save-parts.ts";
import { BudgetFields } from "./budget-fields.tsx";
import { fromBudgetDraft, fromDraft, toBudgetDraft, toDraft } from "./draft.ts";
import { ReleaseForm } from "./release-form.tsx";
import { type RuleSettings, readRules, type SaveRules, writeRules } from "./rule-settings.ts";
import { RulesEditor } from "./rules-editor.tsx";

const { everybody: words } = texts.settings;

export function SettingsRules() {
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.hint}</p>
      <Loaded read={readRules}>{(settings, stored) => <Shown settings={settings} stored={stored} />}</Loaded>
    </div>
  );
}

interface ShownProps {
  readonly settings: RuleSettings;
  readonly stored: Signal<RuleSettings | null>;
}

function Shown({ settings, stored }: ShownProps) {
  const save = useSaveParts({
    shown: settings,
    read: readRules,
    write: writeRules,
    onRead: (next) => (stored.value = next),
  });
  return (
    <>
      <AssistantForm settings={settings} save={save} />
      <BudgetForm settings={settings} save={save} />
      <ReleaseForm settings={settings} save={save} />
    </>
  );
}

interface FormProps {
  readonly settings: RuleSettings;
  readonly save: SaveRules;
}

function AssistantForm({ settings, save }: FormProps) {
  const form = useForm();
  const draft = useSignal(toDraft(settings.mcp));
  return (
    <section class="stack" aria-label={words.assistants}>
      <h3>{words.assistants}</h3>
      <p class="small muted">{words.assistantsHint}</p>
      <Form form={form} onSubmit={() => void form.run(() => save({ mcp: fromDraft(draft.value) }))}>
        <RulesEditor form={form} path="mcp" draft={draft} use={settings.mcp_budget_use} />
        <FormEnd form={form} label={words.saveAssistants} />
      </Form>
    </section>
  );
}

function BudgetForm({ settings, save }: FormProps) {
  const form = useForm();
  const draft = useSignal(toBudgetDraft(settings.budgets));
  const submit = () => void form.run(() => save({ budgets: fromBudgetDraft(draft.value) }));
  return (
    <section class="stack" aria-label={words.organization}>
      <h3>{words.organization}</h3>
      <p class="small muted">{words.organizationHint}</p>
      <Form form={form} onSubmit={submit}>
        <BudgetFields
          form={form}
          path="budgets"
          draft={draft.value}
          use={settings.budget_use}
          onChange={(next) => (draft.value = next)}
        />
        <FormEnd form={form} label={words.saveOrganization} />
      </Form>
    </section>
  );
}
