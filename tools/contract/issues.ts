/**
 * Describes what is wrong with a field, and what to send instead, in words for callers: Zod's own messages
 * are for programmers.
 */
import type { z } from "zod";
import type { ErrorDetail } from "./errors/index.ts";

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

interface Explanation {
  readonly message: string;
  readonly fix: string;
}

/** How many invalid fields are listed. */
export const maxDetails = 20;

/** Pass as `error` to `safeParse`. A message of the schema itself takes precedence. */
export const inputMessages: z.core.$ZodErrorMap = (issue) => explain(issue, issue.input).message;

/** The first invalid fields of an issue. The issue must have been found with `inputMessages`. */
export function describeIssue(issue: Issue, input: unknown): ErrorDetail[] {
  const field = formatPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxDetails).map((key) => ({
      field: field ? `${field}.${key}` : key,
      code: "unknown_argument",
      message: `Unknown argument ${key}.`,
      fix: "Remove it, or correct its name.",
    }));
  }
  const value = valueAt(input, issue.path);
  const explanation = explain(issue, value);
  // A message of the schema itself already says what to send.
  const fix = issue.message === explanation.message ? explanation.fix : issue.message;
  const isMissing = field !== "" && issue.code !== "custom" && value === undefined;
  return isMissing
    ? [{ field, code: "missing", message: "This field is required.", fix: fix.replace(/^Send/, "Add it:") }]
    : [{ field, code: issue.code, message: issue.message, fix }];
}

/** Formats a place in the input, such as nodes[0].action_config.text. A number is a place in a list. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((name, index) => (typeof name === "number" ? `[${name}]` : `${index > 0 ? "." : ""}${String(name)}`))
    .join("");
}

type Explainer<Code extends Issue["code"]> = (
  issue: Extract<Issue, { readonly code: Code }>,
  value: unknown,
) => Explanation;

const explainers: { readonly [Code in Issue["code"]]: Explainer<Code> } = {
  invalid_type: ({ expected }, value) => ({
    message: `It must be ${nameOf(expected)}, and is ${typeOf(value)}.`,
    fix: `Send ${nameOf(expected)}.`,
  }),
  too_small: (issue) => explainLimit(issue, "at least", issue.minimum),
  too_big: (issue) => explainLimit(issue, "at most", issue.maximum),
  invalid_value: ({ values }) => ({
    message: "It is none of the allowed values.",
    fix: describeAllowed(values.map(String)),
  }),
  invalid_format: ({ format }) => formats[format] ?? invalid,
  invalid_union: () => ({
    message: "It has none of the allowed forms.",
    fix: "Send one of the forms that the description of this field names.",
  }),
  not_multiple_of: ({ divisor }) => ({
    message: `It must be a multiple of ${divisor}.`,
    fix: `Send a multiple of ${divisor}.`,
  }),
  unrecognized_keys: () => invalid,
  invalid_key: () => invalid,
  invalid_element: () => invalid,
  custom: () => invalid,
};

/** A longer list would be cut off in the error. */
const maxListedLength = 300;

/** All allowed values or, if they are too many, one of them. */
function describeAllowed(allowed: readonly string[]): string {
  const all = allowed.join(", ");
  if (all.length <= maxListedLength) {
    return `Send ${allowed.length === 1 ? "" : "one of these: "}${all}.`;
  }
  return `Send one of the ${allowed.length} values in the schema of this field, such as ${allowed[0]}.`;
}

const invalid: Explanation = {
  message: "It is not valid.",
  fix: "Correct this field, and send the request again.",
};

function explain(issue: Issue | RawIssue, value: unknown): Explanation {
  // The table has the function for this code; TypeScript does not connect the two.
  const explainer = explainers[issue.code] as (issue: Issue | RawIssue, value: unknown) => Explanation;
  return explainer(issue, value);
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
  set: ["entry", "entries"],
  map: ["member", "members"],
  object: ["member", "members"],
  file: ["byte", "bytes"],
};

function explainLimit(
  { origin, inclusive = true }: { readonly origin: string; readonly inclusive?: boolean },
  relation: "at least" | "at most",
  limit: number | bigint,
): Explanation {
  const bound = inclusive ? relation : relation === "at least" ? "more than" : "less than";
  const [one, many] = units[origin] ?? ["", ""];
  const amount = `${bound} ${limit} ${Number(limit) === 1 ? one : many}`.trim();
  return many === ""
    ? { message: `It must be ${amount}.`, fix: `Send a number that is ${amount}.` }
    : { message: `It must have ${amount}.`, fix: `Send ${amount}.` };
}

const formats: Readonly<Record<string, Explanation>> = {
  email: { message: "It is not an e-mail address.", fix: "Send an address such as ada@example.com." },
  url: { message: "It is not a URL.", fix: "Send a URL such as https://example.com/file." },
  datetime: {
    message: "It is not a date and time in ISO 8601 with a time zone.",
    fix: "Send a time such as 2030-01-31T09:00:00Z.",
  },
  date: { message: "It is not a date in ISO 8601.", fix: "Send a date such as 2030-01-31." },
  base64: { message: "It is not base64.", fix: "Send the bytes in base64, without line breaks." },
};

const names: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  undefined: "absent",
};

function nameOf(type: string): string {
  return names[type] ?? type;
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) {
    return value === null ? "null" : "absent";
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    return "a number with decimals, or too large";
  }
  return nameOf(Array.isArray(value) ? "array" : typeof value);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}
