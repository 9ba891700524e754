/** Creates a simulated inbox: a name and a number are proposed, so that one press is enough. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Dialog } from "../../controls/dialog.tsx";
import { Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import type { Inbox } from "./inbox-state.ts";

const words = texts.channels.inboxes.simulated;

interface Props {
  readonly inboxes: readonly Inbox[];
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

export function SimulatedDialog({ inboxes, onCreated, onClose }: Props) {
  const form = useForm();
  const name = useSignal<string>(words.defaultName);
  const phone = useSignal(useMemo(() => proposeNumber(inboxes), []));
  const once = useOnce([name.value, phone.value]);
  const create = async () => {
    const input = { name: name.value, phone_number: phone.value, channel: "simulator" } as const;
    const { data } = await once((options) => call("create_inbox", input, options));
    showToast(words.created(data.name));
    onCreated();
    onClose();
  };
  return (
    <Dialog title={words.add} onClose={onClose}>
      <Form form={form} onSubmit={() => void form.run(create)}>
        <p class="muted">{words.about}</p>
        <TextField
          form={form}
          name="name"
          label={words.name}
          value={name.value}
          onValue={(next) => (name.value = next)}
        />
        <TextField
          form={form}
          name="phone_number"
          label={words.number}
          hint={words.numberHint}
          value={phone.value}
          onValue={(next) => (phone.value = next)}
        />
        <FormEnd form={form} label={words.create} />
      </Form>
    </Dialog>
  );
}

/** The first number of a range that belongs to nobody, the numbers 555-0100 to 555-0199, that is free. */
function proposeNumber(inboxes: readonly Inbox[]): string {
  const taken = new Set(inboxes.map(({ phone_number }) => phone_number));
  const numbers = Array.from(
    { length: 100 },
    (_, index) => `+1415555${String(100 + index).padStart(4, "0")}`,
  );
  return numbers.find((number) => !taken.has(number)) ?? "";
}
