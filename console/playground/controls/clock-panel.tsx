/** Moves the clock of a sandbox forward, or says how to start a service whose clock can be moved. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { formatComplete } from "../../time.ts";
import { type ClockState, hasOperator, moveClockBy, readClock } from "./clock.ts";

const words = texts.playground.clock;
const hourMs = 3_600_000;
const moves = [
  { name: "tenMinutes", byMs: hourMs / 6 },
  { name: "hour", byMs: hourMs },
  { name: "day", byMs: 24 * hourMs },
  { name: "threeDays", byMs: 72 * hourMs },
] as const;

export function ClockPanel() {
  const isOperated = useSignal<boolean | null>(null);
  const key = useSignal("");
  const state = useSignal<ClockState | null>(null);
  const isMoving = useSignal(false);
  const problem = useSignal("");
  const run = async (act: () => Promise<void>) => {
    problem.value = "";
    isMoving.value = true;
    try {
      await act();
    } catch (error) {
      problem.value = describeError(error);
    }
    isMoving.value = false;
  };
  useEffect(() => {
    void run(async () => {
      isOperated.value = await hasOperator();
    });
  }, []);
  const open = async () => {
    state.value = await readClock(key.value);
  };
  const move = (byMs: number) =>
    moveClockBy({
      key: key.value,
      byMs,
      onStep: (next) => {
        state.value = next;
      },
    });
  return (
    <section class="stack control-group">
      <h2>{words.title}</h2>
      {isOperated.value === false && <p class="notice">{words.off}</p>}
      {isOperated.value === true && state.value === null && (
        <KeyForm
          value={key.value}
          onChange={(value) => {
            key.value = value;
          }}
          onSubmit={() => void run(open)}
        />
      )}
      {state.value !== null && (
        <>
          <p role="status">
            {words.now(formatComplete(state.value.now), Math.round(state.value.ahead_seconds / 3600))}
            {isMoving.value && ` · ${words.moving}`}
          </p>
          {state.value.is_movable ? (
            <>
              <p class="small muted">{words.hint}</p>
              <div class="row">
                {moves.map(({ name, byMs }) => (
                  <button
                    type="button"
                    key={name}
                    disabled={isMoving.value}
                    onClick={() => void run(() => move(byMs))}
                  >
                    {words.moves[name]}
                  </button>
                ))}
              </div>
            </>
          ) : (
            <p class="notice">{words.off}</p>
          )}
        </>
      )}
      <p class="error" role="alert">
        {problem.value}
      </p>
    </section>
  );
}

interface KeyProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onSubmit: () => void;
}

function KeyForm({ value, onChange, onSubmit }: KeyProps) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <p class="small muted">{words.keyHint}</p>
      <label>
        {words.key}
        <input
          type="password"
          required
          autocomplete="off"
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      <button type="submit">{words.open}</button>
    </form>
  );
}
