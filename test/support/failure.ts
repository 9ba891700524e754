/** What a refused call said. */
import { CallFailure } from "../../src/client/index.ts";

/** The failure of a call that must be refused. */
export async function refusal(call: Promise<unknown>): Promise<CallFailure> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof CallFailure) {
    return outcome;
  }
  throw new Error(outcome === undefined ? "the call was not refused" : String(outcome));
}
