/** The error of a command that was called wrongly: the process exits with 2, where other errors exit with 1. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
