/** Maps errors of a tool call to failures that a model may see. */
import { CallFailure, NoResponseError } from "../../../client/index.ts";

/** An error of ours or of the service, or a missing response. */
export interface ToolFailure {
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  /** The error of the body; its other members are unchecked, because the service may not be Tidings. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly mayHaveRun?: boolean;
}

/** @throws the error itself if it is not a failure of the call. */
export function toToolFailure(error: unknown, signal: AbortSignal, timeoutMs: number): ToolFailure {
  if (error instanceof NoResponseError) {
    // Not the error's own message, which names the host; the log has it.
    return {
      code: error.code,
      message: noResponseMessages[error.code](timeoutMs / 1000),
      mayHaveRun: error.mayHaveRun,
    };
  }
  if (error instanceof CallFailure) {
    return error;
  }
  if (signal.aborted) {
    return { code: "cancelled", message: "The call was cancelled." };
  }
  throw error;
}

const noResponseMessages = {
  unreachable: () => "The service can't be reached, or closed the connection before it answered.",
  timeout: (seconds: number) => `The service did not answer within ${seconds} s.`,
} as const;
