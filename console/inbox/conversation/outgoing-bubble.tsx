/** A message that the service has not confirmed yet. */
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import { discard, type Outgoing, sendAgain } from "../compose/outbox.ts";

export function OutgoingBubble({ outgoing }: { outgoing: Outgoing }) {
  const { key, preview, state, problem } = outgoing;
  return (
    <li class={`bubble outbound pending${state === "failed" ? " failed" : ""}`}>
      <p class="text">{preview}</p>
      <p class="small row" role="status">
        <Icon name={state === "failed" ? "warning" : "clock"} size={14} />
        {state === "failed" ? problem : texts.outbox[state]}
      </p>
      {state === "failed" && (
        <p class="row">
          <button type="button" onClick={() => sendAgain(outgoing)}>
            {texts.tryAgain}
          </button>
          <button type="button" class="plain" onClick={() => discard(key)}>
            {texts.outbox.discard}
          </button>
        </p>
      )}
    </li>
  );
}
