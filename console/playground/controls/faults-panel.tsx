/** The failures that the simulated channel injects, by slider. They apply to the whole organization. */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { SavedCheck } from "../../controls/saved-check.tsx";
import { texts } from "../../texts.ts";
import type { Faults } from "../simulator.ts";
import { changeFaults, faultShares, presentFaults, resetFaults } from "./faults.ts";

const words = texts.playground.faults;
const delays = ["accept_delay_ms", "receipt_delay_ms"] as const;
const longestDelayMs = 10_000;
const delayStepMs = 50;
/** Message undeliverable: the most common one. */
const usualCode = 131026;

/** @returns whether the change succeeded, when it has ended */
type Change = (update: (present: Faults) => Partial<Faults>) => Promise<boolean>;

export function FaultsPanel({ number }: { number: string }) {
  const faults = presentFaults;
  const changes = useRef<Promise<unknown>>(Promise.resolve());
  /** One change after the other. */
  const change: Change = (update) => {
    const ended = changes.current.then(() => attempt(() => changeFaults(update)));
    changes.current = ended;
    return ended;
  };
  const reset = () => attempt(resetFaults);
  if (faults.value === null) {
    return <p>{texts.loading}</p>;
  }
  const { fetch_media, pricing } = faults.value;
  const setFree = (isFree: boolean) =>
    change((present) => ({
      pricing: isFree ? { category: null, share: 1, ...present.pricing, is_free: true } : null,
    }));
  return (
    <section class="stack control-group">
      <h2>{words.title}</h2>
      <p class="small muted">{words.hint}</p>
      <FailureFields faults={faults.value} number={number} onChange={change} />
      {faultShares.map((name) => (
        <Slider
          key={name}
          label={words.shares[name]}
          value={faults.value?.[name] ?? 0}
          max={1}
          step={0.05}
          describe={words.share}
          onChange={(value) => change(() => ({ [name]: value }))}
        />
      ))}
      {delays.map((name) => (
        <Slider
          key={name}
          label={words.delays[name]}
          value={faults.value?.[name] ?? 0}
          max={longestDelayMs}
          step={delayStepMs}
          describe={texts.activity.duration}
          onChange={(value) => change(() => ({ [name]: value }))}
        />
      ))}
      <SavedCheck label={words.free} isChecked={pricing?.is_free === true} save={setFree} />
      <SavedCheck
        label={words.fetchMedia}
        isChecked={fetch_media}
        save={(fetches) => change(() => ({ fetch_media: fetches }))}
      />
      <button type="button" onClick={() => void reset()}>
        {words.reset}
      </button>
    </section>
  );
}

interface FailureProps {
  readonly faults: Faults;
  readonly number: string;
  readonly onChange: Change;
}

/** The first entry of the failures. The others were set over the API, and stay. */
function FailureFields({ faults: { failures }, number, onChange }: FailureProps) {
  const [first, ...others] = failures;
  const code = useSignal(first?.code ?? usualCode);
  const isForOne = useSignal(first?.to !== undefined);
  const apply = (share: number) => {
    const to = isForOne.value ? { to: number } : {};
    const entry = { code: code.value, share, ...to };
    return onChange(({ failures: [, ...rest] }) => ({ failures: share === 0 ? rest : [entry, ...rest] }));
  };
  /** The fields show what the channel has, also if it could not be changed. */
  const again = async () => {
    if (first !== undefined && !(await apply(first.share))) {
      code.value = first.code;
      isForOne.value = first.to !== undefined;
    }
  };
  return (
    <>
      <label>
        {words.code}
        <select
          value={String(code.value)}
          onChange={({ currentTarget }) => {
            code.value = Number(currentTarget.value);
            void again();
          }}
        >
          {listCodes(code.value).map((each) => (
            <option key={each} value={String(each)}>
              {words.codeName(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isForOne.value}
          onChange={({ currentTarget }) => {
            isForOne.value = currentTarget.checked;
            void again();
          }}
        />
        {words.onlyThis(isForOne.value ? (first?.to ?? number) : number)}
      </label>
      <Slider
        label={words.failing}
        value={first?.share ?? 0}
        max={1}
        step={0.05}
        describe={words.share}
        onChange={apply}
      />
      {others.length > 0 && <p class="notice">{words.others(others.length)}</p>}
    </>
  );
}

/** A code that was set over the API may be another one. */
function listCodes(code: number): number[] {
  const known = Object.keys(words.codes).map(Number);
  return known.includes(code) ? known : [code, ...known];
}

interface SliderProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly step: number;
  readonly describe: (value: number) => string;
  readonly onChange: (value: number) => Promise<unknown>;
}

/**
 * Shows the value while the thumb moves, and changes it when the thumb is released. The thumb stays until the
 * change has ended, so that the next press of a key counts from there.
 */
function Slider({ label, value, max, step, describe, onChange }: SliderProps) {
  const moved: Signal<number | null> = useSignal(null);
  const shown = moved.value ?? value;
  const apply = async (chosen: number) => {
    moved.value = chosen;
    await onChange(chosen);
    if (moved.value === chosen) {
      moved.value = null;
    }
  };
  return (
    <label>
      <span class="row spread">
        {label}
        <span aria-hidden="true">{describe(shown)}</span>
      </span>
      <input
        type="range"
        min={0}
        max={max}
        step={step}
        value={shown}
        aria-valuetext={describe(shown)}
        onInput={({ currentTarget }) => {
          moved.value = currentTarget.valueAsNumber;
        }}
        onChange={({ currentTarget }) => void apply(currentTarget.valueAsNumber)}
      />
    </label>
  );
}
