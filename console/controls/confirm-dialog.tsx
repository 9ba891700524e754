/** Asks once more before an act that can't be taken back. */
import type { ComponentChildren } from "preact";
import { texts } from "../texts.ts";
import { Dialog } from "./dialog.tsx";
import { Form, FormEnd, useForm } from "./form.tsx";

interface Props {
  readonly title: string;
  /** The label of the button that acts. */
  readonly label: string;
  /** Closes after it; its error is shown in the dialog. */
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What happens. */
  readonly children: ComponentChildren;
}

export function ConfirmDialog({ title, label, act, onClose, children }: Props) {
  const form = useForm();
  const run = async () => {
    if (await form.run(act)) {
      onClose();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} onSubmit={() => void run()}>
        {children}
        <FormEnd form={form} label={label}>
          <button type="button" onClick={onClose}>
            {texts.cancel}
          </button>
        </FormEnd>
      </Form>
    </Dialog>
  );
}
