/** Errors of commands, as text and as JSON. */

/** What --json prints of an error. The message is the text of the error if it is left out. */
export interface ErrorFacts {
  /** The code of the API's error, or one of the command line. */
  readonly code: string;
  readonly message?: string;
  readonly [fact: string]: unknown;
}

interface CommandErrorOptions {
  readonly cause?: unknown;
  readonly facts?: ErrorFacts;
}

/** An error whose facts are known. The process exits with 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly facts: ErrorFacts;
  readonly exitCode: 1 | 2 = 1;

  constructor(message: string, { cause, facts = { code: "command_failed" } }: CommandErrorOptions = {}) {
    super(message, { cause });
    this.facts = facts;
  }
}

/** The error for wrong arguments of a command. The process exits with 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  override readonly exitCode = 2;

  constructor(message: string, { cause, facts = { code: "invalid_arguments" } }: CommandErrorOptions = {}) {
    super(message, { cause, facts });
  }
}

/** A field that a service rejected: its name, what is wrong with the value, and what to send. */
interface RejectedField {
  readonly field: string;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** "to: 415 is not a phone number. Write it with +." */
export function describeField({ field, message, fix = "" }: RejectedField): string {
  // Some rules have one sentence for both.
  return fix === message ? `${field}: ${message}` : `${field}: ${message} ${fix}`.trim();
}

/** What an error says, for a sentence about it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
