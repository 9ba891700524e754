/** The text of a field whose value is stored elsewhere, such as in the address, and changes later. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

interface Typed {
  /** What the field shows: it stays while the page is drawn again. */
  readonly typed: Signal<string>;
  /** Stores the text; when it becomes the value, the field stays as it is. */
  store(text: string): void;
}

/** @param value what is stored: if it is not what was stored from here, it replaces what is typed */
export function useTyped(value: string, onStore: (text: string) => void): Typed {
  const typed = useSignal(value);
  const known = useRef(value);
  useEffect(() => {
    if (value !== known.current) {
      known.current = value;
      typed.value = value;
    }
  }, [value]);
  return {
    typed,
    store(text) {
      known.current = text;
      onStore(text);
    },
  };
}
