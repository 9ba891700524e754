/** A failure as it is thrown: one of the table's codes, with the facts that fill its sentence. */
import type { z } from "zod";
import { type ErrorBody, type ErrorCode, type ErrorDetail, errors } from "./errors.ts";
import { describeRule, type ScopeRule, scopesOf } from "./scopes.ts";

/** Facts of one failure: they fill the sentence, and those the caller can use are sent beside the code. */
export interface FailureDetail extends Readonly<Partial<Record<Reserved, never>>> {
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  readonly [fact: string]: unknown;
}

/** What the body says by itself: a fact of that name would take its place. */
type Reserved = Exclude<keyof (typeof ErrorBody)["shape"]["error"]["shape"], "param" | "details">;

/** A failure that the caller is told about. Anything else that is thrown is answered as `internal`. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly detail: FailureDetail;
  /** Whether this is the stored answer to an earlier request with the same idempotency key. */
  readonly isReplay: boolean;

  constructor(
    code: ErrorCode,
    detail: FailureDetail = {},
    options: { cause?: unknown; isReplay?: boolean } = {},
  ) {
    super(fill(errors[code].message, detail), { cause: options.cause });
    this.name = "Failure";
    this.code = code;
    this.detail = detail;
    this.isReplay = options.isReplay ?? false;
  }

  /** The failure whose body was stored. */
  static restore(body: ErrorBody, isReplay: boolean): Failure {
    const { type: _type, code, message: _message, fix: _fix, request_id: _id, ...detail } = body.error;
    // Only our own bodies are stored, so the code is one of the table's.
    return new Failure(code as ErrorCode, detail, { isReplay });
  }

  get status(): number {
    return errors[this.code].status;
  }

  /** What is sent. */
  body(requestId?: string): ErrorBody {
    const { type, fix } = errors[this.code];
    return {
      error: {
        type,
        code: this.code,
        message: this.message,
        fix: fill(fix, this.detail),
        ...this.detail,
        ...(requestId === undefined ? {} : { request_id: requestId }),
      } as ErrorBody["error"], // details are readonly here and plain arrays there
    };
  }
}

/** The failure to throw: `throw fail("contact_exists", { existing_id })`. */
export function fail(code: ErrorCode, detail?: FailureDetail, cause?: unknown): Failure {
  return new Failure(code, detail, { cause });
}

/** The facts of `insufficient_scope`: the rule in words, and the scopes that it names. */
export function lackOf(rule: ScopeRule | null): FailureDetail {
  return { required_scope: rule && describeRule(rule), required_scopes: scopesOf(rule) };
}

/** A refusal of one field, in the shape of every validation error. */
export function refuse(field: string, code: ErrorCode, detail: FailureDetail = {}): Failure {
  const failure = new Failure(code, detail);
  return new Failure(code, {
    ...detail,
    param: field,
    details: [{ field, code, message: failure.message, fix: fill(errors[code].fix, detail) }],
  });
}

/** Turns Zod's issues into the field-precise refusal that every face gives. */
export function refuseInput(issues: readonly z.core.$ZodIssue[], input: unknown): Failure {
  const details = issues.flatMap((issue) => describeIssue(issue, input));
  const first = details[0];
  return new Failure("invalid_request", {
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
