/** A modal dialog. The browser keeps the focus in it, returns it afterwards, and closes it with Escape. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { texts } from "../texts.ts";
import { Icon } from "./icon.tsx";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect ends before the dialog is removed: one that is removed open does not return the focus.
  useLayoutEffect(() => {
    const { current: dialog } = element;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="plain icon"
          aria-label={texts.close}
          onClick={() => element.current?.close()}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body stack">{children}</div>
    </dialog>
  );
}
