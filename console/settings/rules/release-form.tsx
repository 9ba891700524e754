/** Who may release plans, and what each role may release at most: only an owner sets the limits. */
import { useSignal } from "@preact/signals";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { toLimit } from "./draft.ts";
import { withCurrency } from "./money-label.ts";
import type { RuleSettings, SaveRules } from "./rule-settings.ts";

const { release: words } = texts.settings;
const roles = ["admin", "supervisor", "agent"] as const;
const kinds = ["recipients", "amount"] as const;

type LimitName = `${(typeof roles)[number]}.${(typeof kinds)[number]}`;

interface Props {
  readonly settings: RuleSettings;
  readonly save: SaveRules;
}

export function ReleaseForm({ settings, save }: Props) {
  const form = useForm();
  const isOther = useSignal(settings.approver_is_never_asker);
  const limits = useSignal(readLimits(settings.release_limits));
  const isOwner = session.value?.user.role === "owner";
  const submit = () =>
    save({
      approver_is_never_asker: isOther.value,
      ...(isOwner ? { release_limits: writeLimits(limits.value) } : {}),
    });
  return (
    <section class="stack" aria-label={words.title}>
      <h3>{words.title}</h3>
      <Form form={form} onSubmit={() => void form.run(submit)}>
        <label class="check">
          <input
            type="checkbox"
            checked={isOther.value}
            onChange={({ currentTarget }) => (isOther.value = currentTarget.checked)}
          />
          {words.other}
        </label>
        <fieldset class="group">
          <legend>{words.limits}</legend>
          <p class="small muted">{isOwner ? words.hint : words.ownerOnly}</p>
          <div class="columns">
            {roles.flatMap((role) =>
              kinds.map((kind) => (
                <TextField
                  key={`${role}.${kind}`}
                  form={form}
                  name={`release_limits.${role}.${kind}`}
                  label={
                    kind === "amount"
                      ? withCurrency(words.names[`${role}.${kind}`])
                      : words.names[`${role}.${kind}`]
                  }
                  placeholder={texts.settings.rules.noLimit}
                  disabled={!isOwner}
                  value={limits.value[`${role}.${kind}`] ?? ""}
                  onValue={(text) => (limits.value = { ...limits.value, [`${role}.${kind}`]: text })}
                />
              )),
            )}
          </div>
        </fieldset>
        <FormEnd form={form} label={words.save} />
      </Form>
    </section>
  );
}

type Drafts = Readonly<Partial<Record<LimitName, string>>>;

function readLimits(limits: RuleSettings["release_limits"]): Drafts {
  return Object.fromEntries(
    roles.flatMap((role) => kinds.map((kind) => [`${role}.${kind}`, String(limits?.[role]?.[kind] ?? "")])),
  );
}

/** Null without any limit. */
function writeLimits(drafts: Drafts): RuleSettings["release_limits"] {
  const entries = roles.flatMap((role) => {
    const set = kinds.flatMap((kind) => {
      const limit = toLimit(drafts[`${role}.${kind}`] ?? "");
      return limit === null ? [] : [[kind, limit] as const];
    });
    return set.length === 0 ? [] : [[role, Object.fromEntries(set)] as const];
  });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}
