/** The steps of the set-up, and the one that is open. */
import { texts } from "../../texts.ts";

const { steps, stepOf } = texts.channels.inboxes.setup;

export function StepList({ current }: { current: number }) {
  return (
    <>
      <ol class="steps">
        {steps.map((step, index) => (
          <li
            key={step}
            aria-current={index + 1 === current ? "step" : undefined}
            data-done={index + 1 < current}
          >
            {step}
          </li>
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {stepOf(current, steps.length)}
      </p>
    </>
  );
}
