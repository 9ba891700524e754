/** A button that opens a menu beside it. Escape and a click elsewhere close it. */
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly class?: string;
  /** The key that opens the menu. */
  readonly shortcut?: string;
  /** Buttons, and headings between them. */
  readonly children: ComponentChildren;
}

const marginPx = 4;

export function Menu({ label, button, class: name = "", shortcut, children }: Props) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLFieldSetElement>(null);

  // The event "toggle" comes later than a quick second key: the browser itself sets the focus as it opens.
  // The menu has the focus, and so the arrow keys, while its buttons are still being read.
  const setFirstFocus = ({ newState }: { readonly newState: string }) => {
    const first = menu.current?.querySelector("button:not(:disabled)") ?? menu.current;
    first?.toggleAttribute("autofocus", newState === "open");
  };
  const toggle = ({ newState }: { readonly newState: string }) => {
    if (newState === "open" && menu.current !== null && opener.current !== null) {
      place(menu.current, opener.current.getBoundingClientRect());
    }
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={name}
        aria-label={label}
        title={label}
        data-key={shortcut}
        popovertarget={id}
      >
        {button}
      </button>
      <fieldset
        ref={menu}
        id={id}
        popover="auto"
        class="menu"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={setFirstFocus}
        onToggle={toggle}
        // Before the button's own handler: a dialog that it opens returns the focus to the opener.
        onClickCapture={({ target }) => {
          if (target instanceof Element && target.closest("button")) {
            menu.current?.hidePopover();
            opener.current?.focus();
          }
        }}
        onKeyDown={moveFocus}
      >
        {children}
      </fieldset>
    </>
  );
}

/** Below the button if there is room, else above it. */
function place(menu: HTMLElement, at: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const hasRoom = at.bottom + height + marginPx < innerHeight;
  const top = hasRoom ? at.bottom + marginPx : Math.max(at.top - height - marginPx, marginPx);
  const left = Math.max(Math.min(at.left, innerWidth - width - marginPx), marginPx);
  Object.assign(menu.style, { top: `${top}px`, left: `${left}px` });
}

function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) {
    return;
  }
  event.preventDefault();
  const buttons: (Element | null)[] = [...event.currentTarget.querySelectorAll("button:not(:disabled)")];
  const at = buttons.indexOf(document.activeElement);
  const from = at === -1 && step === -1 ? 0 : at;
  const next = buttons[(from + step + buttons.length) % buttons.length];
  if (next instanceof HTMLElement) {
    next.focus();
  }
}
