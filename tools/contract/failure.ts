/**
 * Failures: an error of a table with its facts, in the form in which it is thrown and sent, in at most 20 kB.
 */
import type { z } from "zod";
import type { ErrorBody, ErrorDetail, ErrorEntry } from "./errors/index.ts";
import { requestErrors } from "./errors/index.ts";
import { describeIssue, inputMessages, maxDetails } from "./issues.ts";
import { describeRule, type ScopeRule, scopesOf } from "./scopes.ts";

/** The facts of one failure: they fill in the message and are sent beside the code. */
export interface FailureDetail extends Readonly<Partial<Record<ReservedField, never>>> {
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  readonly [fact: string]: unknown;
}

/** Members of the body that a fact must not overwrite. */
type ReservedField = Exclude<keyof (typeof ErrorBody)["shape"]["error"]["shape"], "param" | "details">;

/** In characters. `value` is what the caller sent; lists of known names may be longer. */
const limits = { value: 100, param: 200, field: 200, message: 400, other: 2_000 } as const;

/** The listed fields have at most this many bytes. */
const maxDetailBytes = 14_000;

/** An error that is shown to the caller. Any other thrown error is answered as `internal`. */
export class Failure extends Error {
  readonly code: string;
  readonly entry: ErrorEntry;
  readonly detail: FailureDetail;
  /** Whether this is the stored response to an earlier request with the same idempotency key. */
  readonly isReplay: boolean;

  constructor(
    code: string,
    entry: ErrorEntry,
    { detail = {}, cause, isReplay = false }: FailureOptions = {},
  ) {
    const limited = limitFacts(detail);
    super(fill(entry.message, limited), { cause });
    this.name = "Failure";
    this.code = code;
    this.entry = entry;
    this.detail = limited;
    this.isReplay = isReplay;
  }

  get status(): number {
    return this.entry.status;
  }

  /**
   * After how many seconds to send the request again. Always defined if the service can't process requests
   * now.
   */
  get retryAfter(): number | undefined {
    const { retry_after } = this.detail;
    return typeof retry_after === "number" ? retry_after : this.status === 503 ? 1 : undefined;
  }

  /** What to do next. */
  get fix(): string {
    return fill(this.entry.fix, this.detail);
  }

  /** The body of the error response. */
  body(requestId?: string): ErrorBody {
    return {
      error: {
        type: this.entry.type,
        code: this.code,
        message: this.message,
        fix: this.fix,
        ...this.detail,
        ...(requestId === undefined ? {} : { request_id: requestId }),
      } as ErrorBody["error"], // details are readonly here and plain arrays there
    };
  }
}

export interface FailureOptions {
  readonly detail?: FailureDetail | undefined;
  readonly cause?: unknown;
  readonly isReplay?: boolean;
}

/** A failure in one field, in the shape of every validation error. */
export function fieldFailure(
  field: string,
  code: string,
  entry: ErrorEntry,
  detail: FailureDetail = {},
): Failure {
  const { message, fix } = new Failure(code, entry, { detail });
  return new Failure(code, entry, {
    detail: { ...detail, param: field, details: [{ field, code, message, fix }] },
  });
}

/** The facts of `insufficient_scope`: the rule in words, and its scopes. */
export function missingScope(rule: ScopeRule | null): FailureDetail {
  return { required_scope: rule && describeRule(rule), required_scopes: scopesOf(rule) };
}

/** A failure of the request itself, before any resource is known. */
export function failRequest(code: keyof typeof requestErrors, detail?: FailureDetail): Failure {
  return new Failure(code, requestErrors[code], { detail });
}

/** Parses what a caller sent. @throws Failure `invalid_request` that names each invalid field. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(input, { error: inputMessages });
  if (error) {
    throw failInput(error.issues, input);
  }
  return data;
}

/**
 * Converts Zod's issues, found with `inputMessages`, to a failure that names each invalid field, up to a
 * limit.
 */
export function failInput(issues: readonly z.core.$ZodIssue[], input: unknown): Failure {
  const details = limitDetails(issues.slice(0, maxDetails).flatMap((issue) => describeIssue(issue, input)));
  const count = issues.reduce((sum, issue) => sum + fieldsOf(issue), 0);
  const omitted =
    count > details.length
      ? `${count} fields are invalid, and details has the first ${details.length}. `
      : "";
  const [first] = details;
  const reason = first ? `${first.field ? `${first.field}: ` : ""}${first.message}` : "it is empty.";
  return failRequest("invalid_request", {
    reason: omitted + reason,
    ...(first?.field ? { param: first.field } : {}),
    details,
  });
}

/** The number of invalid fields in an issue. */
function fieldsOf(issue: z.core.$ZodIssue): number {
  return issue.code === "unrecognized_keys" ? issue.keys.length : 1;
}

/** Shortens long texts, and drops details above the limit. */
function limitFacts(detail: FailureDetail): FailureDetail {
  const limited = Object.entries(detail).map(([name, fact]) => [name, limitFact(name, fact)]);
  // Each fact keeps its name and its type.
  return Object.fromEntries(limited) as FailureDetail;
}

function limitFact(name: string, fact: unknown): unknown {
  if (name === "details" && Array.isArray(fact)) {
    return limitDetails(fact);
  }
  return typeof fact === "string" ? shorten(fact, limitOf(name)) : fact;
}

function limitOf(name: string): number {
  return name === "value" || name === "param" ? limits[name] : limits.other;
}

/** The first details, as many as fit into a response. */
function limitDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  const encoder = new TextEncoder();
  let bytes = 0;
  return details
    .slice(0, maxDetails)
    .map((detail) => ({
      ...detail,
      field: shorten(detail.field, limits.field),
      message: shorten(detail.message, limits.message),
      ...(detail.fix === undefined ? {} : { fix: shorten(detail.fix, limits.message) }),
    }))
    .filter((detail) => {
      bytes += encoder.encode(JSON.stringify(detail)).length;
      return bytes <= maxDetailBytes;
    });
}

function shorten(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit).toWellFormed()}…` : text;
}

function fill(sentence: string, detail: FailureDetail): string {
  return sentence.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(detail[name] ?? placeholder));
}
