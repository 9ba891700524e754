/** Short messages at the bottom of the page, some with a button that takes the action back, or a link. */
import { signal } from "@preact/signals";
import { texts } from "../texts.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo?: () => void;
  /** The address of what the text is about. */
  readonly href?: string;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 15_000;
let count = 0;

export function showToast(text: string, undo?: () => void): void {
  show({ text, ...(undo === undefined ? {} : { undo }) });
}

/** Shows a text that leads to an address. */
export function showLink(text: string, href: string): void {
  show({ text, href });
}

function show(toast: Omit<Toast, "id">): void {
  const id = ++count;
  toasts.value = [...toasts.value, { id, ...toast }];
  setTimeout(() => remove(id), shownMs);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Takes back what the newest toast offers to take back. */
export function undoLatest(): void {
  const latest = toasts.value.findLast(({ undo }) => undo !== undefined);
  if (latest !== undefined) {
    remove(latest.id);
    latest.undo?.();
  }
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, undo, href }) => (
        <div key={id}>
          {href === undefined ? (
            <span>{text}</span>
          ) : (
            <a href={href} onClick={() => remove(id)}>
              {text}
            </a>
          )}
          {undo && (
            <button
              type="button"
              onClick={() => {
                remove(id);
                undo();
              }}
            >
              {texts.undo}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
