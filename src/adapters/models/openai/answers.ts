/**
 * Reads the answers of an OpenAI-compatible service: its status, and its errors in their documented form.
 *
 * The text of an error is used for decisions, but never passed on: services repeat parts of the key and of
 * the input in it.
 */
import { z } from "zod";
import type { ModelFailure, ModelFailureReason } from "../../../ports/models/language-model.ts";
import { type JsonAnswer, readRetryAfter } from "../../http-client/index.ts";

/** The beginning of the names of a service's settings. */
export type SettingsPrefix = "TIDINGS_LLM" | "TIDINGS_EMBEDDINGS" | "TIDINGS_TRANSCRIPTION";

/** An error in the form of the OpenAI API. */
export type Refusal = z.infer<typeof ErrorAnswer>["error"];

const text = z.string().nullish().catch(null);

const ErrorAnswer = z.object({
  error: z.object({ message: text, type: text, param: text, code: text }),
});

type ReadAnswer =
  | { readonly value: unknown; readonly isTransient: false }
  | { readonly failure: ModelFailure; readonly refusal?: Refusal; readonly isTransient: boolean };

/** Statuses after which another attempt may succeed at once; 529 means that the service is busy. */
const transient: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);

export function readModelAnswer(
  prefix: SettingsPrefix,
  { status, headers, value }: Pick<JsonAnswer, "status" | "headers" | "value">,
): ReadAnswer {
  if (status >= 200 && status < 300) {
    return value === undefined
      ? { failure: unreadable("is no JSON"), isTransient: false }
      : { value, isTransient: false };
  }
  const refusal = ErrorAnswer.safeParse(value).data?.error;
  const hasNoCredit = refusal?.code === "insufficient_quota";
  const [reason, detail] = describe(prefix, status, refusal);
  const isRetryable = (status >= 500 || transient.has(status)) && !hasNoCredit;
  const retryAfterMs = isRetryable ? readRetryAfter(headers) : undefined;
  return {
    failure: {
      outcome: "failed",
      reason,
      detail,
      isRetryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    ...(refusal ? { refusal } : {}),
    isTransient: transient.has(status) && !hasNoCredit,
  };
}

export function unreadable(what: string): ModelFailure {
  const detail = `The answer of the model's service ${what}.`;
  return { outcome: "failed", reason: "malformed", detail, isRetryable: true };
}

/** The failure if no answer arrived, or only a part of one. */
export function unreachable(error: unknown): ModelFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const suffix = /^[A-Z][A-Z\d_]+$/.test(code) ? ` (${code})` : "";
  const detail = `The connection to the model's service failed${suffix}.`;
  return { outcome: "failed", reason: "unavailable", detail, isRetryable: true };
}

function describe(
  prefix: SettingsPrefix,
  status: number,
  refusal: Refusal | undefined,
): readonly [ModelFailureReason, string] {
  const service = "The model's service";
  if (refusal?.code === "insufficient_quota") {
    return ["rejected", `${service} says that the account has no credit left.`];
  }
  if (status === 413 || (refusal && isAboutLength(refusal))) {
    return ["too_long", "The input is longer than the model allows."];
  }
  if (status >= 300 && status < 400) {
    return ["rejected", `${service} redirects, which is not followed: check ${prefix}_URL.`];
  }
  const known = details[status];
  if (known) {
    return [known[0], `${service} ${known[1](prefix)}.`];
  }
  return [status >= 500 ? "unavailable" : "rejected", `${service} answered with status ${status}.`];
}

const details: Readonly<Record<number, readonly [ModelFailureReason, (prefix: string) => string]>> = {
  401: ["rejected", (prefix) => `rejected the key: check ${prefix}_KEY`],
  403: ["rejected", (prefix) => `rejected the key: check ${prefix}_KEY`],
  404: ["rejected", (prefix) => `knows no such path or model: check ${prefix}_URL and ${prefix}_MODEL`],
  408: ["unavailable", () => "answered with status 408"],
  429: ["rate_limited", () => "limits the rate of requests"],
};

/** Whether the input was too long: OpenAI has a code for this, llama.cpp a type, and vLLM only a message. */
function isAboutLength({ code, type, message }: Refusal): boolean {
  return (
    code === "context_length_exceeded" ||
    type === "exceed_context_size_error" ||
    /maximum context length|context (?:size|window)/i.test(message ?? "")
  );
}
