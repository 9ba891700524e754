/** A record that a page shows: read when it is opened, after events about its kind, and while it changes. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { describeError } from "../service/describe-error.ts";
import { isTemporary } from "../service/errors.ts";
import { listen } from "./live.ts";
import { createRefresher } from "./refresh.ts";

interface FollowOptions<Value> {
  readonly read: () => Promise<Value>;
  /** The types of the events after which it is read again. */
  readonly events: RegExp;
  /** Whether only an event changes it; otherwise it is read again after some seconds. */
  readonly isSettled: (value: Value) => boolean;
}

interface FollowedRecord<Value> {
  /** Null until it was read; it can be set to a newer value. */
  readonly value: Signal<Value | null>;
  readonly problem: Signal<string>;
}

const delayMs = 300;

/** @param id names the record; another id reads anew. */
export function useFollowedRecord<Value>(
  id: string,
  { read, events, isSettled }: FollowOptions<Value>,
): FollowedRecord<Value> {
  const value = useSignal<Value | null>(null);
  const problem = useSignal("");
  useEffect(() => {
    const refresh = createRefresher(
      async () => {
        try {
          const next = await read();
          value.value = next;
          problem.value = "";
          return isSettled(next);
        } catch (error) {
          problem.value = describeError(error);
          return !isTemporary(error);
        }
      },
      { delayMs },
    );
    const stopListening = listen((event) => {
      if (event === "resync" || events.test(event.type)) {
        refresh();
      }
    });
    refresh.start();
    return () => {
      stopListening();
      refresh.stop();
    };
  }, [id]);
  return { value, problem };
}
