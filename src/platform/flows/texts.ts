/**
 * Fills in the placeholders of texts: {{contact.name}}, {{vars.city | default: "your city"}}.
 *
 * A placeholder is a name and at most one default. Nothing is evaluated, and what is filled in is not read again, so a
 * contact's text can't become a placeholder.
 */
import { type Problem, suggest } from "./graph/index.ts";

/** What placeholders can name. */
const names = [
  "contact.name",
  "contact.phone_number",
  "contact.username",
  "contact.country",
  "contact.metadata.<path>",
  "message.text",
  "vars.<name>",
] as const;

/** A longer value is cut. */
const maxValueLength = 1024;

const placeholder = /\{\{([^{}]*)\}\}/g;
const inside = /^\s*([^\s|"][^|"]*?)\s*(?:\|\s*default:\s*"([^"]*)"\s*)?$/;

export interface Rendered {
  readonly text: string;
  /** The placeholders without a value or a default: nothing is filled in. */
  readonly missing: readonly string[];
}

/** `read` returns undefined for a missing value; `encode` makes a value fit its place. */
export function renderText(
  template: string,
  read: (name: string) => unknown,
  encode: (value: string) => string = (value) => value,
): Rendered {
  const missing: string[] = [];
  const text = template.replace(placeholder, (_, content: string) => {
    const [, name = "", byDefault] = inside.exec(content) ?? [];
    const value = toText(read(name)) || byDefault;
    if (value === undefined) {
      missing.push(name);
    }
    return encode((value ?? "").slice(0, maxValueLength).toWellFormed());
  });
  return { text, missing };
}

/**
 * Fills in the texts of a JSON value. A text that is one placeholder becomes its value, of any type and length; null without
 * a value or a default.
 */
export function renderJson(
  template: unknown,
  read: (name: string) => unknown,
): { readonly value: unknown; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const renderValue = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map(renderValue);
    }
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, renderValue(member)]));
    }
    const filled = typeof value === "string" ? (readOne(value, read) ?? renderText(value, read)) : { value };
    missing.push(...("missing" in filled ? filled.missing : []));
    return "text" in filled ? filled.text : filled.value;
  };
  return { value: renderValue(template), missing };
}

/** The value of a text that is one placeholder; undefined for another text. */
function readOne(text: string, read: (name: string) => unknown) {
  const [, content] = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(text) ?? [];
  if (content === undefined) {
    return undefined;
  }
  const [, name = "", byDefault] = inside.exec(content) ?? [];
  const value = read(name);
  const isMissing = value === undefined || value === null || value === "";
  return isMissing
    ? { value: byDefault ?? null, missing: byDefault === undefined ? [name] : [] }
    : { value, missing: [] };
}

export function hasPlaceholder(text: string): boolean {
  return text.match(placeholder) !== null;
}

/** The placeholders that can't be filled in. `variables` are what the flow saves: mail, order.body.<path>. */
export function checkText(template: string, field: string, variables: ReadonlySet<string>): Problem[] {
  return [...template.matchAll(placeholder)].flatMap(([whole, content = ""]) => {
    const [, name] = inside.exec(content) ?? [];
    if (name === undefined) {
      const fix = 'Send a name, with or without a default: {{contact.name | default: "there"}}.';
      return [problem(field, `The placeholder ${whole} is not valid.`, fix)];
    }
    return isKnown(name, variables) ? [] : [unknownName(field, name, variables)];
  });
}

function isKnown(name: string, variables: ReadonlySet<string>): boolean {
  if (name.startsWith("vars.")) {
    const variable = name.slice("vars.".length);
    return [...variables].some((saved) => covers(saved, variable));
  }
  return names.some((known) => known === name) || /^contact\.metadata\.[^<]/.test(name);
}

/** Whether a pattern such as order.body.<path> is that of the name. */
function covers(pattern: string, name: string): boolean {
  const [start = "", ...path] = pattern.split("<path>");
  return path.length === 0 ? name === pattern : name.startsWith(start) && !name.split(".").includes("");
}

function unknownName(field: string, name: string, variables: ReadonlySet<string>): Problem {
  const saved = [...variables].map((variable) => `vars.${variable}`);
  const known = [...names.slice(0, -1), ...saved];
  const hint = saved.length === 0 ? " An ask and an http_request save a variable with save_as." : "";
  return problem(
    field,
    `The placeholder {{${name}}} has no value.${suggest(name, known)}`,
    `Send one of these: ${known.slice(0, 20).join(", ")}.${hint}`,
  );
}

function problem(field: string, message: string, fix: string): Problem {
  return { field, code: "unknown_placeholder", message, fix };
}

/** Undefined for a value that has no text. */
function toText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return value.flatMap((one) => toText(one) ?? []).join(", ");
  }
  const hasText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return hasText ? String(value) : undefined;
}
