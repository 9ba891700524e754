/** Begins a conversation: a phone number and a template, because a new contact has not written yet. */
import { useSignal } from "@preact/signals";
import { useLocation } from "preact-iso/router";
import { Dialog } from "../../controls/dialog.tsx";
import { call, type Input } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary } from "../../service/errors.ts";
import { texts } from "../../texts.ts";
import { TemplateForm } from "./template-dialog.tsx";

type TemplateContent = NonNullable<Input<"send_message">["template"]>;

export function NewConversation({ to, onClose }: { to: string; onClose: () => void }) {
  const number = useSignal(to);
  const problem = useSignal("");
  const { route } = useLocation();
  // Kept while no answer arrives, so that a repeated click sends one message.
  const key = useSignal(crypto.randomUUID());

  const send = async (template: TemplateContent) => {
    problem.value = "";
    try {
      const input = { to: number.value.trim(), type: "template", template } as const;
      const { data } = await call("send_message", input, { idempotencyKey: key.value });
      onClose();
      route(`/console/inbox/${data.conversation_id}`);
    } catch (error) {
      problem.value = describeError(error);
      if (!isTemporary(error)) {
        key.value = crypto.randomUUID();
      }
    }
  };
  return (
    <Dialog title={texts.start.title} onClose={onClose}>
      <p class="muted">{texts.start.hint}</p>
      <label>
        {texts.start.number}
        <input
          type="tel"
          required
          autofocus
          placeholder="+14155550123"
          value={number.value}
          onInput={({ currentTarget }) => {
            number.value = currentTarget.value;
          }}
        />
      </label>
      <p class="error" role="alert">
        {problem.value}
      </p>
      {number.value.trim() !== "" && (
        <TemplateForm contactName={null} onSend={(content) => void send(content)} />
      )}
    </Dialog>
  );
}
