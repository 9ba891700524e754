/** What a section reads when it is opened; until then it says so, and says why it could not. */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useReading } from "../service/reading.ts";
import { texts } from "../texts.ts";

interface Props<Value> {
  readonly read: () => Promise<Value>;
  /** Renders what was read; the signal can be set to a newer value. */
  readonly children: (value: Value, stored: Signal<Value | null>) => JSX.Element;
}

export function Loaded<Value>({ read, children }: Props<Value>) {
  const { value: stored, problem, reload } = useReading(read);
  const { value } = stored;
  if (value !== null) {
    return children(value, stored);
  }
  return problem.value === "" ? (
    <p>{texts.loading}</p>
  ) : (
    <ReadProblem problem={problem.value} onRetry={() => void reload()} />
  );
}

interface ProblemProps {
  /** Empty: nothing is shown. */
  readonly problem: string;
  readonly onRetry: () => void;
}

export function ReadProblem({ problem, onRetry }: ProblemProps) {
  return problem === "" ? null : (
    <div class="stack">
      <p class="error" role="alert">
        {problem}
      </p>
      <div class="row">
        <button type="button" onClick={onRetry}>
          {texts.tryAgain}
        </button>
      </div>
    </div>
  );
}
