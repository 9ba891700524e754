/** The section that connects an assistant: a key with rules, what to paste, and whether it has connected. */
import { useSignal } from "@preact/signals";
import { texts } from "../../texts.ts";
import { AssistantForm, type NewAssistant } from "./assistant-form.tsx";
import { AssistantState } from "./assistant-state.tsx";
import { Snippets } from "./snippet-view.tsx";

const { assistant: words } = texts.settings;

export function SettingsAssistant() {
  const made = useSignal<NewAssistant | null>(null);
  const { value } = made;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      {value === null ? (
        <AssistantForm onMade={(assistant) => (made.value = assistant)} />
      ) : (
        <>
          <h3>{words.paste(value.name)}</h3>
          <Snippets secret={value.secret} />
          <h3>{words.stateTitle}</h3>
          <AssistantState id={value.id} />
          <div class="row">
            <button type="button" onClick={() => (made.value = null)}>
              {words.another}
            </button>
          </div>
        </>
      )}
    </div>
  );
}
