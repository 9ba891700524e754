/** Makes the key of an assistant, which begins with rules. */
import { useSignal } from "@preact/signals";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { call } from "../../service/call.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import { ScopeFields } from "../keys/scope-fields.tsx";
import { presets, type ScopeLevels, scopesAt } from "../keys/scope-groups.ts";
import { fromDraft, toDraft } from "../rules/draft.ts";
import { withCurrency } from "../rules/money-label.ts";

const { assistant: words, rules: ruleWords } = texts.settings;

export interface NewAssistant {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}

const heldBack = ["delete", "export", "configure"] as const;

export function AssistantForm({ onMade }: { readonly onMade: (assistant: NewAssistant) => void }) {
  const form = useForm();
  const name = useSignal("");
  const levels = useSignal<ScopeLevels>(presets.assistant);
  const limits = useSignal({ recipients_above: "10", amount_above: "5" });

  const once = useOnce([name.value, levels.value]);
  const make = async () => {
    const input = { name: name.value, scopes: scopesAt(levels.value) };
    const variant = "personal";
    const { data } = await once((options) => call("create_api_key", input, { ...options, variant }));
    try {
      const none = toDraft(null);
      const switches = { ...none.switches, delete: true, export: true, configure: true };
      const rules = fromDraft({ ...none, limits: limits.value, switches });
      await call("set_api_key_rules", { id: data.id, rules });
    } catch (error) {
      // Nobody has seen its secret; a key without rules must not stay.
      await call("delete_api_key", { id: data.id });
      throw error;
    }
    onMade({ id: data.id, name: data.name, secret: data.secret_key });
  };
  return (
    <>
      <p class="muted">{words.hint}</p>
      <Form form={form} onSubmit={() => void form.run(make)}>
        <TextField
          form={form}
          name="name"
          label={words.name}
          hint={words.nameHint}
          autocomplete="off"
          value={name.value}
          onValue={(next) => (name.value = next)}
        />
        <ScopeFields form={form} levels={levels} />
        <fieldset class="group">
          <legend>{words.waits}</legend>
          <p class="small muted">{words.waitsHint}</p>
          <div class="columns">
            {(["recipients_above", "amount_above"] as const).map((limit) => (
              <TextField
                key={limit}
                form={form}
                name={`rules.approve.${limit}`}
                label={
                  limit === "amount_above" ? withCurrency(ruleWords.limits[limit]) : ruleWords.limits[limit]
                }
                placeholder={ruleWords.noLimit}
                value={limits.value[limit]}
                onValue={(next) => (limits.value = { ...limits.value, [limit]: next })}
              />
            ))}
          </div>
          <ul class="bullets">
            {heldBack.map((rule) => (
              <li key={rule}>{ruleWords.switches[rule]}</li>
            ))}
          </ul>
        </fieldset>
        <FormEnd form={form} label={words.make} />
      </Form>
    </>
  );
}
