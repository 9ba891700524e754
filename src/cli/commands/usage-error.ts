/** The error for wrong arguments of a command. The process exits with 2; for other errors it exits with 1. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
