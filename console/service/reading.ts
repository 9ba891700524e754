/** Something that a part of a page reads from the service, and reads again on request. */
import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { describeError } from "./describe-error.ts";

interface Reading<Value> {
  /** Null until it was read; it can be set to a newer value. */
  readonly value: Signal<Value | null>;
  readonly problem: ReadonlySignal<string>;
  reload(): Promise<void>;
}

/** @param key names what is read; another key reads anew. */
export function useReading<Value>(read: () => Promise<Value>, key = ""): Reading<Value> {
  const value = useSignal<Value | null>(null);
  const problem = useSignal("");
  const latest = useRef(0);
  const reload = useCallback(async () => {
    const own = ++latest.current;
    problem.value = "";
    try {
      const next = await read();
      // The answer to a former request is late.
      if (own === latest.current) {
        value.value = next;
      }
    } catch (error) {
      if (own === latest.current) {
        problem.value = describeError(error);
      }
    }
  }, [key]);
  useEffect(() => {
    void reload();
    return () => {
      latest.current += 1;
    };
  }, [reload]);
  return { value, problem, reload };
}
