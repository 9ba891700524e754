/** Gets the failure of a call that must be rejected. */
import { CallFailure } from "../../src/client/index.ts";

/** Resolves with the failure; rejects if the call succeeds or fails otherwise. */
export async function expectFailure(call: Promise<unknown>): Promise<CallFailure> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof CallFailure) {
    return outcome;
  }
  throw new Error(outcome === undefined ? "the call was not rejected" : String(outcome));
}
