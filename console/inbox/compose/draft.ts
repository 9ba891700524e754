/** What is being written, kept in this browser for each conversation until it is sent. */
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ofPerson, read, watchStored, write } from "../../preferences.ts";

export const modes = ["reply", "note"] as const;
export type Mode = (typeof modes)[number];

export function useDraft(mode: Mode, conversation: string): Signal<string> {
  const name = ofPerson(`draft.${mode}.${conversation}`);
  const { text, keep } = useMemo(() => createDraft(name), [name]);
  useEffect(keep, [keep]);
  return text;
}

/** Two tabs show one draft of a conversation: what is sent from one is not sent from the other again. */
function createDraft(name: string) {
  const readText = () => read<{ text: string }>(name)?.text ?? "";
  let stored = readText();
  const text = signal(stored);
  const keep = () => {
    const stopStoring = effect(() => {
      if (text.value !== stored) {
        stored = text.value;
        write(name, stored === "" ? undefined : { text: stored });
      }
    });
    const stopWatching = watchStored(name, () => {
      stored = readText();
      text.value = stored;
    });
    return () => {
      stopStoring();
      stopWatching();
    };
  };
  return { text, keep };
}
