/** Sends a message to the person's own phone, and says what became of it. */
import { useSignal } from "@preact/signals";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { type Answer, call } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import type { Inbox } from "./inbox-state.ts";
import { StepList } from "./step-list.tsx";
import { recallToken } from "./verify-tokens.ts";

type Sent = Answer<"send_message">["data"];

const words = texts.channels.inboxes.test;
/** The longest that the service waits for a delivery. */
const waitSeconds = 10;

export function TestMessage({ inbox }: { inbox: Inbox }) {
  const form = useForm();
  const to = useSignal("");
  const text = useSignal<string>(words.defaultText);
  const sent = useSignal<Sent | null>(null);
  const once = useOnce([to.value, text.value]);
  const send = async () => {
    const input = {
      to: to.value,
      type: "text",
      text: { body: text.value },
      inbox_id: inbox.id,
      wait_seconds: waitSeconds,
    } as const;
    try {
      sent.value = (await once((options) => call("send_message", input, options))).data;
    } catch (error) {
      sent.value = null;
      throw error instanceof ServiceError && error.code === "outside_service_window"
        ? new ServiceError(error.status, "test_outside_window", words.outsideWindow)
        : error;
    }
  };
  // Only in the set-up, which began on this page.
  const isSetUp = inbox.last_webhook_at !== null && recallToken(inbox.id) !== undefined;
  const isLastStep = isSetUp && (sent.value === null || sent.value.status === "failed");
  return (
    <section class="stack">
      {isLastStep && <StepList current={5} />}
      <h3>{words.title}</h3>
      <p>{words.about(inbox.phone_number)}</p>
      <Form form={form} onSubmit={() => void form.run(send)}>
        <TextField
          form={form}
          name="to"
          label={words.to}
          hint={words.toHint}
          value={to.value}
          onValue={(value) => (to.value = value)}
        />
        <TextField
          form={form}
          name="text.body"
          label={words.text}
          value={text.value}
          onValue={(value) => (text.value = value)}
        />
        <FormEnd form={form} label={words.send} />
      </Form>
      <div role="status">{sent.value !== null && <Result sent={sent.value} />}</div>
    </section>
  );
}

function Result({ sent: { status, error, conversation_id } }: { sent: Sent }) {
  const isGood = status === "delivered" || status === "read" || status === "sent";
  return (
    <div class={`notice stack ${status === "failed" ? "bad" : isGood ? "good" : ""}`}>
      <p>{status === "failed" ? words.failed(error?.title ?? "") : (words.results[status] ?? "")}</p>
      <p>
        <a href={`/console/inbox/${conversation_id}`}>{words.open}</a>
      </p>
    </div>
  );
}
