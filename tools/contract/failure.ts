/** Failures: an error of a table with its facts, as it is thrown and sent. */
import type { z } from "zod";
import { requestErrors } from "./common-errors.ts";
import type { ErrorBody, ErrorDetail, ErrorEntry } from "./errors.ts";
import { describeRule, type ScopeRule, scopesOf } from "./scopes.ts";

/** The facts of one failure: they fill in the message and are sent beside the code. */
export interface FailureDetail extends Readonly<Partial<Record<Reserved, never>>> {
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  readonly [fact: string]: unknown;
}

/** Members of the body that a fact must not overwrite. */
type Reserved = Exclude<keyof (typeof ErrorBody)["shape"]["error"]["shape"], "param" | "details">;

/** An error that is shown to the caller. Anything else that is thrown is answered as `internal`. */
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
    super(fill(entry.message, detail), { cause });
    this.name = "Failure";
    this.code = code;
    this.entry = entry;
    this.detail = detail;
    this.isReplay = isReplay;
  }

  get status(): number {
    return this.entry.status;
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

/** Converts Zod's issues to a failure that names each invalid field. */
export function failInput(issues: readonly z.core.$ZodIssue[], input: unknown): Failure {
  const details = issues.flatMap((issue) => describeIssue(issue, input));
  const first = details[0];
  return failRequest("invalid_request", {
    reason: first ? `${first.field ? `${first.field}: ` : ""}${first.message}` : "it is empty.",
    ...(first?.field ? { param: first.field } : {}),
    details,
  });
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): ErrorDetail[] {
  const field = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: field ? `${field}.${key}` : key,
      code: "unknown_argument",
      message: `Unknown argument ${key}.`,
    }));
  }
  const isMissing = field !== "" && issue.code !== "custom" && valueAt(input, issue.path) === undefined;
  return [
    {
      field,
      code: isMissing ? "missing" : issue.code,
      message: isMissing ? "This field is required." : issue.message,
    },
  ];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

function fill(sentence: string, detail: FailureDetail): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(detail[name] ?? name));
}
