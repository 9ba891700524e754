/** What is being written, kept in this browser for each conversation until it is sent. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ofPerson, read, write } from "../../preferences.ts";

export const modes = ["reply", "note"] as const;
export type Mode = (typeof modes)[number];

export function useDraft(mode: Mode, conversation: string): Signal<string> {
  const name = ofPerson(`draft.${mode}.${conversation}`);
  const text = useSignal("");
  const loaded = useRef("");
  if (loaded.current !== name) {
    loaded.current = name;
    text.value = read<{ text: string }>(name)?.text ?? "";
  }
  useEffect(() => write(name, text.value === "" ? undefined : { text: text.value }), [name, text.value]);
  return text;
}
