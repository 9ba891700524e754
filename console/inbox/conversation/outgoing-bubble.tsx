/** A message that the service has not confirmed yet. */
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import { describeObstacle } from "../compose/composer.tsx";
import { discard, type Outgoing, sendAgain } from "../compose/outbox.ts";
import { focusTextField } from "../compose/text-field.tsx";
import { editAgain, isEditable, type Writing } from "../compose/writing.ts";
import type { OpenConversation } from "./open-conversation.ts";

interface Props {
  readonly outgoing: Outgoing;
  readonly conversation: OpenConversation;
  readonly writing: Writing;
}

export function OutgoingBubble({ outgoing, conversation, writing }: Props) {
  const { key, preview, state, problem } = outgoing;
  const context = conversation.context.value;
  const canReply = context !== null && describeObstacle(context) === null;
  const edit = () => {
    editAgain(writing, outgoing, conversation.messages.value);
    // The button that had the focus is gone.
    requestAnimationFrame(focusTextField);
  };
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
          {canReply && isEditable(outgoing) && (
            <button type="button" class="plain" onClick={edit}>
              {texts.outbox.edit}
            </button>
          )}
          <button type="button" class="plain" onClick={() => discard(key)}>
            {texts.outbox.discard}
          </button>
        </p>
      )}
    </li>
  );
}
