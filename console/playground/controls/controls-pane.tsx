/** What can be changed around the conversation: failures, reviews of templates, the clock, a sample. */
import { texts } from "../../texts.ts";
import type { Inbox } from "../available.ts";
import { ClockPanel } from "./clock-panel.tsx";
import { FaultsPanel } from "./faults-panel.tsx";
import { ReviewPanel } from "./review-panel.tsx";
import { SamplePanel } from "./sample-panel.tsx";

interface Props {
  readonly inbox: Inbox;
  /** The customer whose phone is shown. */
  readonly number: string;
}

export function ControlsPane({ inbox, number }: Props) {
  return (
    <section class="controls stack" aria-label={texts.playground.views.controls}>
      <FaultsPanel number={number} />
      <ReviewPanel />
      <ClockPanel />
      <SamplePanel inbox={inbox} />
    </section>
  );
}
