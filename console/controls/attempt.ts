/** Runs an act of the person, and shows its error in words. */
import { describeError } from "../service/describe-error.ts";
import { showToast } from "./toast.tsx";

/** @returns whether the act succeeded */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    showToast(describeError(error));
    return false;
  }
}
