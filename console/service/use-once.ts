/** Gives the repeated requests of one act the same idempotency key, so that they have one effect. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { isTemporary } from "./errors.ts";

type RunOnce = <Result>(
  act: (options: { readonly idempotencyKey: string }) => Promise<Result>,
) => Promise<Result>;

/**
 * An answer ends the act, also one that refuses: what was wrong elsewhere may be right by now.
 *
 * @param inputs what the act sends: another value is another act
 */
export function useOnce(inputs: readonly unknown[]): RunOnce {
  const acts = useSignal(0);
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [...inputs, acts.value]);
  return async (act) => {
    try {
      const result = await act({ idempotencyKey });
      acts.value += 1;
      return result;
    } catch (error) {
      acts.value += isTemporary(error) ? 0 : 1;
      throw error;
    }
  };
}
