/** Removes a record after a question, and leads back to its list. */
import { useSignal } from "@preact/signals";
import { useLocation } from "preact-iso/router";
import { ConfirmDialog } from "../controls/confirm-dialog.tsx";
import { showToast } from "../controls/toast.tsx";

interface Props {
  readonly name: string;
  readonly words: {
    readonly open: string;
    readonly act: string;
    readonly about: string;
    readonly title: (name: string) => string;
    readonly done: (name: string) => string;
  };
  /** The address of the list. */
  readonly back: string;
  readonly remove: () => Promise<unknown>;
}

export function RemoveButton({ name, words, back, remove }: Props) {
  const isAsked = useSignal(false);
  const { route } = useLocation();
  return (
    <div class="row">
      <button type="button" onClick={() => (isAsked.value = true)}>
        {words.open}
      </button>
      {isAsked.value && (
        <ConfirmDialog
          title={words.title(name)}
          label={words.act}
          act={async () => {
            await remove();
            showToast(words.done(name));
            route(back);
          }}
          onClose={() => (isAsked.value = false)}
        >
          <p>{words.about}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
