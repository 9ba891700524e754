/** One policy, or a new one. */
import { type Signal, useSignal } from "@preact/signals";
import { useLocation } from "preact-iso/router";
import { Form, FormEnd, type FormState, TextField, useForm } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { useOnce } from "../../service/use-once.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { RemoveButton } from "../remove-button.tsx";
import { useSaveParts } from "../save-parts.ts";
import { ConditionFields } from "./condition-fields.tsx";
import { describePolicy } from "./describe-policy.ts";
import { type NamedRecords, type RoutingPolicy, readNamed } from "./policies.ts";
import { fromPolicyDraft, type PolicyDraft, toPolicyDraft } from "./policy-draft.ts";
import { StrategyFields, TargetField } from "./strategy-fields.tsx";
import "./routing.css";

const words = texts.routing;

const readPolicy = async (id: string) => (await call("get_routing_policy", { id })).data;

export function PolicyDetail({ id }: { id: string }) {
  const { value, problem, reload } = useReading(async () => {
    const [policy, named] = await Promise.all([id === "new" ? null : readPolicy(id), readNamed()]);
    return { policy, named };
  }, id);
  return (
    <div class="stack">
      <p>
        <a class="row" href="/console/settings/routing">
          <Icon name="back" size={18} />
          {words.back}
        </a>
      </p>
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {value.value === null ? problem.value === "" && <p>{texts.loading}</p> : <Shown {...value.value} />}
    </div>
  );
}

interface Props {
  readonly policy: RoutingPolicy | null;
  readonly named: NamedRecords;
}

function Shown({ policy, named }: Props) {
  const mayChange = holdsScope("inbox:write");
  return (
    <>
      <h2>{policy?.name ?? words.form.createTitle}</h2>
      {policy !== null && <p class="text">{describePolicy(policy, named)}</p>}
      {!mayChange && <p class="notice">{words.readOnly}</p>}
      {mayChange && policy === null && <NewPolicy named={named} />}
      {mayChange && policy !== null && (
        <>
          <ChangedPolicy policy={policy} named={named} />
          <RemoveButton
            name={policy.name}
            words={words.remove}
            back="/console/settings/routing"
            remove={() => call("delete_routing_policy", { id: policy.id })}
          />
        </>
      )}
    </>
  );
}

function NewPolicy({ named }: { named: NamedRecords }) {
  const draft = useSignal(toPolicyDraft(null));
  const once = useOnce([draft.value]);
  const save = async () => {
    const input = fromPolicyDraft(draft.value, {});
    await once((options) => call("create_routing_policy", input, options));
    showToast(texts.form.saved);
  };
  return <PolicyForm policy={null} draft={draft} named={named} save={save} />;
}

function ChangedPolicy({ policy, named }: { policy: RoutingPolicy; named: NamedRecords }) {
  const draft = useSignal(toPolicyDraft(policy));
  const present = useSignal(policy);
  const { id } = policy;
  const saveParts = useSaveParts({
    shown: policy,
    read: () => readPolicy(id),
    write: async (part: ReturnType<typeof fromPolicyDraft>) =>
      (await call("update_routing_policy", { id, ...part })).data,
    onRead: (next) => (present.value = next),
  });
  const save = () => saveParts(fromPolicyDraft(draft.value, present.value.settings));
  return <PolicyForm policy={policy} draft={draft} named={named} save={save} />;
}

interface FormProps extends Props {
  readonly draft: Signal<PolicyDraft>;
  readonly save: () => Promise<void>;
}

function PolicyForm({ policy, draft, named, save }: FormProps) {
  const form = useForm();
  const { route } = useLocation();
  const submit = async () => {
    if (!isValidJson(draft.value.conditions.json)) {
      form.fieldProblems.value = new Map([["conditions", words.form.badJson]]);
      form.problem.value = texts.form.correct;
    } else if (await form.run(save)) {
      route("/console/settings/routing");
    }
  };
  return (
    <Form form={form} onSubmit={() => void submit()}>
      <PolicyFields
        form={form}
        draft={draft}
        named={named}
        allowsAll={policy === null || policy.target_id === null}
      />
      <FormEnd form={form} label={policy === null ? words.form.create : words.form.save} />
    </Form>
  );
}

function isValidJson(text: string | null): boolean {
  try {
    return text === null || typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

interface FieldsProps {
  readonly form: FormState;
  readonly draft: Signal<PolicyDraft>;
  readonly named: NamedRecords;
  readonly allowsAll: boolean;
}

function PolicyFields({ form, draft, named, allowsAll }: FieldsProps) {
  const { value } = draft;
  const set = (change: Partial<PolicyDraft>) => (draft.value = { ...draft.value, ...change });
  return (
    <>
      <TextField
        form={form}
        name="name"
        label={words.form.name}
        value={value.name}
        onValue={(name) => set({ name })}
      />
      <ConditionFields
        form={form}
        conditions={value.conditions}
        named={named}
        onConditions={(conditions) => set({ conditions })}
      />
      <TargetField
        form={form}
        allowsAll={allowsAll}
        target={value.target}
        named={named}
        onTarget={(target) => set({ target })}
      />
      <StrategyFields form={form} draft={value} named={named} onChange={set} />
      <label class="check">
        <input
          type="checkbox"
          checked={value.is_active}
          onChange={({ currentTarget }) => set({ is_active: currentTarget.checked })}
        />
        {words.form.isActive}
      </label>
    </>
  );
}
