/**
 * What a text field offers after a sign at the start of a word, as a combobox: arrows choose one, Enter or
 * Tab inserts it, Escape closes the list.
 */
import { type Signal, useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";

interface Offer {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** Replaces the sign and what follows it. */
  readonly content: string;
}

export interface OfferSource {
  readonly sign: "/" | "@";
  readonly label: string;
  /** @param typed what follows the sign, in lower case */
  find(typed: string): readonly Offer[];
}

interface Field {
  readonly text: Signal<string>;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly source: OfferSource;
}

const mostShown = 8;

export function useOffers({ text, field, source }: Field) {
  /** What follows the sign before the caret; null while there is none. */
  const typed = useSignal<string | null>(null);
  const chosen = useSignal(0);
  /** Where the caret was when the text before it was looked at. */
  const caret = useSignal(0);
  const offers = useComputed(() =>
    typed.value === null ? [] : source.find(typed.value.toLowerCase()).slice(0, mostShown),
  );

  const close = () => {
    typed.value = null;
  };
  const insert = (content: string) => {
    const { current: element } = field;
    if (element === null || typed.value === null) {
      return;
    }
    const replaced = `${source.sign}${typed.value}`;
    const left = text.value.slice(0, element.selectionStart);
    close();
    // The caret may have moved meanwhile.
    if (!left.endsWith(replaced)) {
      return;
    }
    const before = `${left.slice(0, -replaced.length)}${content}`;
    text.value = `${before}${text.value.slice(left.length)}`;
    requestAnimationFrame(() => element.setSelectionRange(before.length, before.length));
  };
  const move = (step: number) => () => {
    const { length } = offers.value;
    chosen.value = (chosen.value + step + length) % length;
  };
  const choose = () => insert(offers.value[chosen.value]?.content ?? "");
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: move(1),
    ArrowUp: move(-1),
    Enter: choose,
    Tab: choose,
    Escape: close,
  };
  /** Looks for the sign before the caret. */
  const look = ({ value, selectionStart }: HTMLTextAreaElement) => {
    const before = value.slice(0, selectionStart);
    const [word = ""] = /\S*$/.exec(before) ?? [];
    typed.value = word.startsWith(source.sign) ? word.slice(1) : null;
    chosen.value = 0;
    caret.value = selectionStart;
  };
  return {
    label: source.label,
    offers,
    chosen,
    insert,
    close,
    look,
    /** Looks again after a key or a click, unless the caret has stayed: Escape has closed the list there. */
    lookIfMoved(element: HTMLTextAreaElement) {
      if (element.selectionStart !== caret.value) {
        look(element);
      }
    },
    /** @returns whether the key was for the list */
    handleKey(key: string): boolean {
      const act = offers.value.length > 0 ? keys[key] : undefined;
      act?.();
      return act !== undefined;
    },
  };
}

export function OfferList({ id, list }: { id: string; list: ReturnType<typeof useOffers> }) {
  return (
    <div role="listbox" id={id} aria-label={list.label} class="offers">
      {list.offers.value.map(({ id: key, name, detail, content }, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus and names the choice
        <div
          key={key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === list.chosen.value}
          onMouseDown={(event) => {
            event.preventDefault();
            list.insert(content);
          }}
        >
          <strong>{name}</strong> <span class="muted">{detail}</span>
        </div>
      ))}
    </div>
  );
}
