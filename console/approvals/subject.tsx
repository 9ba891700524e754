/** The record that a call is about, by name: an id says nothing to who decides. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readRecordWords } from "../service/record-names.ts";
import { texts } from "../texts.ts";
import type { Plan } from "./plan-list.ts";

/** Nothing for a call that names no record, or none that the person may read. */
export function Subject({ plan: { input } }: { plan: Plan }) {
  const words = useSignal("");
  const { id } = input;
  useEffect(() => {
    words.value = "";
    if (typeof id === "string") {
      readRecordWords(id).then(
        (names) => (words.value = names.join(", ")),
        () => undefined,
      );
    }
  }, [id]);
  return words.value === "" ? null : <p>{texts.approvals.about(words.value)}</p>;
}
