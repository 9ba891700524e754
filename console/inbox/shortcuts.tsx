/** Keys of the inbox. They work outside of fields; Escape leaves a field. */
import { useEffect } from "preact/hooks";
import { Dialog } from "../controls/dialog.tsx";
import { undoLatest } from "../controls/toast.tsx";
import { texts } from "../texts.ts";

/** A conversation that has left the list while it was open, for example because it was closed. */
export interface FormerPlace {
  readonly id: string;
  readonly index: number;
}

interface Inbox {
  /** The ids of the conversations in the order of the list. */
  readonly order: () => readonly string[];
  readonly formerPlace: () => FormerPlace | null;
  readonly openId: string | undefined;
  readonly show: (id: string) => void;
  readonly showHelp: () => void;
}

/** Keys with an action of the open conversation; its controls have the attribute `data-key`. */
const controlKeys = ["e", "a", "r", "n"];

export function useShortcuts(inbox: Inbox): void {
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
        return;
      }
      if (isField(event.target)) {
        if (event.key === "Escape" && event.target instanceof HTMLElement && !event.defaultPrevented) {
          event.target.blur();
        }
        return;
      }
      // A key that is held down moves on in the list, and does nothing else again.
      const isIgnored = event.repeat && event.key !== "j" && event.key !== "k";
      if (!isIgnored && act(event.key, inbox)) {
        event.preventDefault();
      }
    };
    addEventListener("keydown", handle);
    return () => removeEventListener("keydown", handle);
  });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input:not([type=checkbox]), textarea, select");
}

/** The row of a conversation in the list. */
export function findRow(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-conversation="${CSS.escape(id)}"]`);
}

/** Whether the key does something. */
function act(key: string, inbox: Inbox): boolean {
  const { show, showHelp } = inbox;
  const step = { j: 1, k: -1 }[key];
  if (step !== undefined) {
    const next = findNext(step, inbox);
    if (next !== undefined) {
      show(next);
      findRow(next)?.scrollIntoView({ block: "nearest" });
    }
    return true;
  }
  if (key === "?") {
    showHelp();
    return true;
  }
  if (key === "z") {
    undoLatest();
    return true;
  }
  if (key === "/") {
    document.getElementById("search")?.focus();
    return true;
  }
  const control = controlKeys.includes(key) ? document.querySelector(`[data-key="${key}"]`) : null;
  if (!(control instanceof HTMLElement)) {
    return false;
  }
  if (control.matches("textarea")) {
    control.focus();
  } else {
    control.click();
  }
  return true;
}

/** The neighbour in the list; of a conversation that has left the list, the neighbour of its former place. */
function findNext(step: number, { order, openId = "", formerPlace }: Inbox): string | undefined {
  const ids = order();
  const former = formerPlace();
  const hasLeft = former?.id === openId && !ids.includes(openId);
  // The row below the former place has moved up to it.
  const next = hasLeft ? former.index + Math.min(step, 0) : ids.indexOf(openId) + step;
  return ids[Math.min(Math.max(next, 0), ids.length - 1)];
}

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={texts.shortcuts.title} onClose={onClose}>
      <dl class="shortcuts">
        {texts.shortcuts.keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
