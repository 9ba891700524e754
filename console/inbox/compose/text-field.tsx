/** The text of a reply or a note. Enter submits it; a sign at the start of a word offers what fits. */
import type { Signal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { OfferList, type OfferSource, useOffers } from "./offer-list.tsx";
import { TooLong } from "./text-limit.tsx";

interface Props {
  readonly text: Signal<string>;
  readonly label: string;
  readonly source: OfferSource;
  /** Called whenever the person types. */
  readonly onWrite: () => void;
  readonly onSubmit: () => void;
  /** Receives files that are pasted. */
  readonly onFiles?: (files: readonly File[]) => void;
}

const mostRows = 10;

/** Sets the focus into the field of the open conversation, if a text may be written there. */
export function focusTextField(): void {
  document.querySelector<HTMLElement>('[data-key="r"]')?.focus();
}

export function TextField({ text, label, source, onWrite, onSubmit, onFiles }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const list = useOffers({ text, field, source });
  const isOffering = list.offers.value.length > 0;

  /** Office programs add a picture of the text that they copy: then the text is pasted. */
  const paste = (event: ClipboardEvent) => {
    const { files, types } = event.clipboardData ?? new DataTransfer();
    if (onFiles !== undefined && files.length > 0 && !types.includes("text/rtf")) {
      event.preventDefault();
      onFiles([...files]);
    }
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) {
      return;
    }
    if (list.handleKey(event.key)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      onSubmit();
    }
  };
  return (
    <div class="text-field">
      {isOffering && <OfferList id={id} list={list} />}
      <textarea
        ref={field}
        data-key="r"
        aria-label={label}
        placeholder={label}
        rows={Math.min(text.value.split("\n").length + 1, mostRows)}
        value={text.value}
        aria-autocomplete="list"
        aria-controls={isOffering ? id : undefined}
        aria-activedescendant={isOffering ? `${id}-${list.chosen.value}` : undefined}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          list.look(currentTarget);
          onWrite();
        }}
        onKeyUp={({ currentTarget }) => list.lookIfMoved(currentTarget)}
        onClick={({ currentTarget }) => list.lookIfMoved(currentTarget)}
        onBlur={list.close}
        onPaste={paste}
        onKeyDown={handleKey}
      />
      <TooLong text={text.value} />
    </div>
  );
}
