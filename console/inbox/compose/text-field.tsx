/** The text of a reply or a note. Enter submits it; a sign at the start of a word offers what fits. */
import type { Signal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { OfferList, type OfferSource, useOffers } from "./offer-list.tsx";

interface Props {
  readonly text: Signal<string>;
  readonly label: string;
  readonly source: OfferSource;
  /** Called whenever the person types. */
  readonly onWrite: () => void;
  readonly onSubmit: () => void;
  /** Receives files that are pasted or dropped. */
  readonly onFiles?: (files: readonly File[]) => void;
}

const mostRows = 10;

export function TextField({ text, label, source, onWrite, onSubmit, onFiles }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const list = useOffers({ text, field, source });
  const isOffering = list.offers.value.length > 0;

  const take = (event: Event, transfer: DataTransfer | null) => {
    const files = [...(transfer?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      onFiles?.(files);
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
        maxLength={4096}
        value={text.value}
        aria-autocomplete="list"
        aria-controls={isOffering ? id : undefined}
        aria-activedescendant={isOffering ? `${id}-${list.chosen.value}` : undefined}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          list.look(currentTarget);
          onWrite();
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => take(event, event.dataTransfer)}
        onPaste={(event) => take(event, event.clipboardData)}
        onKeyDown={handleKey}
      />
    </div>
  );
}
