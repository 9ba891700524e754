/** Offers a small sample to an organization that has nothing yet, and says what was made. */
import { useSignal } from "@preact/signals";
import { attempt } from "../../controls/attempt.ts";
import { texts } from "../../texts.ts";
import type { Inbox } from "../available.ts";
import { makeSample, mayMakeSample, type SamplePart } from "./sample.ts";

const words = texts.playground.sample;

export function SamplePanel({ inbox }: { inbox: Inbox }) {
  const parts = useSignal<readonly SamplePart[] | null>(null);
  const isMaking = useSignal(false);
  if (!mayMakeSample()) {
    return null;
  }
  const make = async () => {
    isMaking.value = true;
    await attempt(async () => {
      parts.value = await makeSample(inbox);
    });
    isMaking.value = false;
  };
  return (
    <section class="stack control-group">
      <h2>{words.title}</h2>
      <p class="small muted">{words.hint}</p>
      <button type="button" disabled={isMaking.value} onClick={() => void make()}>
        {words.make}
      </button>
      <div role="status" class="stack">
        {parts.value !== null && (
          <>
            <p>{parts.value.some(({ isNew }) => isNew) ? words.made : words.nothingNew}</p>
            <ul class="bullets small">
              {parts.value.map(({ kind, name, id, isNew }) => (
                <li key={id}>
                  {words.part(words.kinds[kind], name, isNew)} <code>{id}</code>
                </li>
              ))}
            </ul>
            <p class="small">{words.next}</p>
          </>
        )}
      </div>
    </section>
  );
}
