/** A text to take elsewhere, such as a secret or a command, with a button that copies it. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts.ts";

interface Props {
  /** Names the text, for the button. */
  readonly label: string;
  readonly text: string;
}

export function CopyText({ label, text }: Props) {
  const element = useRef<HTMLTextAreaElement>(null);
  const state = useSignal<keyof typeof texts.copy.states>("ready");
  useEffect(() => {
    state.value = "ready";
  }, [text]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = "copied";
    } catch {
      // Browsers allow it on secure addresses alone: the person copies what is selected.
      element.current?.select();
      state.value = "selected";
    }
  };
  return (
    <div class="copy-text">
      <textarea
        ref={element}
        class="json"
        readOnly
        rows={text.split("\n").length}
        aria-label={label}
        value={text}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <div class="row">
        <button type="button" aria-label={texts.copy.named(label)} onClick={() => void copy()}>
          {texts.copy.button}
        </button>
        <span class="small muted" role="status">
          {texts.copy.states[state.value]}
        </span>
      </div>
    </div>
  );
}
