/** Runs the steps of a test or a benchmark while a call is under way. */

/**
 * Both are observed from the start, so that a failure of either counts, whenever it comes.
 * @returns the result of the call.
 */
export async function meanwhile<Result>(
  call: Promise<Result>,
  steps: () => Promise<unknown>,
): Promise<Result> {
  const [result] = await Promise.all([call, steps()]);
  return result;
}
