/** Where a policy leads to: the team or person, and how one of the team is chosen. */
import { Choice } from "../../controls/choice.tsx";
import { Field, type FormState, TextField } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";
import type { NamedRecords } from "./policies.ts";
import { defaults, type PolicyDraft } from "./policy-draft.ts";

const words = texts.routing;
const { sticky: _, ...fallbacks } = words.strategies;

interface TargetProps {
  readonly form: FormState;
  readonly target: string;
  readonly named: NamedRecords;
  /** The service can't take the target from a policy that has one. */
  readonly allowsAll: boolean;
  readonly onTarget: (target: string) => void;
}

export function TargetField({ form, target, allowsAll, named: { teams, people }, onTarget }: TargetProps) {
  return (
    <Field form={form} name="target_id" label={words.form.target}>
      {(attributes) => (
        <select
          {...attributes}
          value={target}
          onChange={({ currentTarget }) => onTarget(currentTarget.value)}
        >
          {allowsAll && <option value="all">{words.form.everyTeam}</option>}
          <optgroup label={words.form.teams}>
            {teams.map(({ id, name }) => (
              <option key={id} value={`team:${id}`}>
                {name}
              </option>
            ))}
          </optgroup>
          <optgroup label={words.form.persons}>
            {people.map(({ id, name }) => (
              <option key={id} value={`user:${id}`}>
                {name}
              </option>
            ))}
          </optgroup>
        </select>
      )}
    </Field>
  );
}

interface Props {
  readonly form: FormState;
  readonly draft: PolicyDraft;
  readonly named: NamedRecords;
  readonly onChange: (change: Partial<PolicyDraft>) => void;
}

export function StrategyFields({ form, draft, named, onChange }: Props) {
  const { strategy, fallback, target } = draft;
  const isTeam = !target.startsWith("user:");
  const uses = (wanted: PolicyDraft["strategy"]) =>
    isTeam && (strategy === wanted || (strategy === "sticky" && fallback === wanted));
  return (
    <>
      {isTeam && (
        <Choice
          form={form}
          name="strategy"
          label={words.form.strategy}
          options={words.strategies}
          value={strategy}
          onValue={(next) => onChange({ strategy: next })}
        />
      )}
      {isTeam && strategy === "sticky" && (
        <>
          <Choice
            form={form}
            name="settings.fallback"
            label={words.form.fallback}
            options={fallbacks}
            value={fallback}
            onValue={(next) => onChange({ fallback: next })}
          />
          <TextField
            form={form}
            name="settings.ttl_days"
            type="number"
            label={words.form.days}
            hint={words.form.usual(defaults.days)}
            value={draft.days}
            onValue={(days) => onChange({ days })}
          />
        </>
      )}
      {uses("skills_based") && (
        <>
          <TextField
            form={form}
            name="settings.required_skills"
            label={words.form.requiredSkills}
            hint={words.form.requiredSkillsHint}
            value={draft.skills}
            onValue={(skills) => onChange({ skills })}
          />
          <TextField
            form={form}
            name="settings.relax_after_seconds"
            type="number"
            label={words.form.relax}
            hint={words.form.relaxHint}
            value={draft.relax}
            onValue={(relax) => onChange({ relax })}
          />
        </>
      )}
      {uses("weighted") && <Weights form={form} draft={draft} named={named} onChange={onChange} />}
      <TextField
        form={form}
        name="settings.escalate_after_seconds"
        type="number"
        label={words.form.escalate}
        hint={words.form.usual(defaults.escalate)}
        value={draft.escalate}
        onValue={(escalate) => onChange({ escalate })}
      />
      <TextField
        form={form}
        name="settings.requeue_after_seconds"
        type="number"
        label={words.form.requeue}
        hint={words.form.requeueHint}
        value={draft.requeue}
        onValue={(requeue) => onChange({ requeue })}
      />
    </>
  );
}

/** A weight for each member of the teams that the policy leads to. */
function Weights({ form, draft: { target, weights }, named: { teams }, onChange }: Props) {
  const reached = teams.filter(({ id }) => target === "all" || target === `team:${id}`);
  const members = new Map(reached.flatMap((team) => team.members).map((one) => [one.user_id, one.name]));
  return (
    <>
      <p class="small muted">{words.form.weightHint}</p>
      {[...members].map(([id, name]) => (
        <TextField
          key={id}
          form={form}
          name={`settings.weights.${id}`}
          type="number"
          label={words.form.weight(name)}
          placeholder="1"
          value={weights[id] ?? ""}
          onValue={(weight) => onChange({ weights: { ...weights, [id]: weight } })}
        />
      ))}
    </>
  );
}
