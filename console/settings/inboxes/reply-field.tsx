/** The answer to a word about marketing: the usual text, an own one, or none. */
import { useSignal } from "@preact/signals";
import { Choice } from "../../controls/choice.tsx";
import { type FormState, TextField } from "../../controls/form.tsx";
import { texts } from "../../texts.ts";

const { replies, replyText } = texts.channels.inboxes.form;

interface Props {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  /** Undefined: the usual text; empty: no answer. */
  readonly value: string | undefined;
  readonly onValue: (value: string | undefined) => void;
}

export function ReplyField({ form, name, label, value, onValue }: Props) {
  const kind = useSignal<keyof typeof replies>(value === undefined ? "usual" : value === "" ? "none" : "own");
  const choose = (next: keyof typeof replies) => {
    kind.value = next;
    onValue(next === "usual" ? undefined : "");
  };
  const isOwn = kind.value === "own";
  return (
    <>
      <Choice
        form={form}
        name={isOwn ? `${name}.kind` : name}
        label={label}
        options={replies}
        value={kind.value}
        onValue={choose}
      />
      {isOwn && (
        <TextField
          form={form}
          name={name}
          label={`${label}: ${replyText}`}
          value={value ?? ""}
          onValue={onValue}
        />
      )}
    </>
  );
}
