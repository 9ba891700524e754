/**
 * Fills in the placeholders of texts: {{contact.name}}, {{vars.city | default: "your city"}}.
 *
 * A placeholder is a name with at most one default. Nothing is evaluated, and filled-in values are not read
 * again, so a contact's text can't become a placeholder.
 */
import { cutText } from "../../../../texts/cut.ts";
import { maxProblems, type Problem, suggest } from "../graph/index.ts";

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

/** How many members of a list are read: the text of further members would be cut. */
const maxMembers = maxValueLength;

/** How many missing placeholders a node reports. */
const maxMissing = 50;

const placeholder = /\{\{([^{}]*)\}\}/g;

export interface Filling {
  /** Returns undefined for a missing value. */
  read(name: string): unknown;
  /** Encodes a value for its place in the text. */
  readonly encode?: ((value: string) => string) | undefined;
  /** The limit of the result: a value may be many times as long as its placeholder. */
  readonly maxLength: number;
}

export interface RenderedText {
  /** Undefined if the text would be longer than `maxLength`; then filling in stops. */
  readonly text: string | undefined;
  /** The placeholders without a value or a default. They become empty. */
  readonly missing: readonly string[];
}

export function renderText(template: string, filling: Filling): RenderedText {
  const missing = new Set<string>();
  const text = join(partsOfText(template, toParts(filling, missing)), filling.maxLength);
  return { text, missing: [...missing].slice(0, maxMissing) };
}

/**
 * Fills in the texts of a JSON value, and returns its JSON. A text that is a single placeholder becomes the
 * placeholder's value, of any type and length, or null without a value or a default.
 */
export function renderJson(template: unknown, filling: Omit<Filling, "encode">): RenderedText {
  const missing = new Set<string>();
  const text = join(partsOfJson(template, toParts(filling, missing)), filling.maxLength);
  return { text, missing: [...missing].slice(0, maxMissing) };
}

/** Returns undefined as soon as the text is too long, so that it can't fill the memory. */
function join(parts: Iterable<string>, maxLength: number): string | undefined {
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length > maxLength) {
      return undefined;
    }
  }
  return text;
}

interface Parts extends Omit<Filling, "maxLength"> {
  /** The text of a value. */
  readText(name: string): string | undefined;
  readonly missing: Set<string>;
}

/** The text of a value is made once for all its placeholders, because a list may be long. */
function toParts({ read, encode }: Omit<Filling, "maxLength">, missing: Set<string>): Parts {
  const texts = new Map<string, string | undefined>();
  const readText = (name: string) => {
    if (!texts.has(name)) {
      const text = toText(read(name));
      texts.set(name, text && cutText(text, maxValueLength));
    }
    return texts.get(name);
  };
  return { read, readText, encode, missing };
}

function* partsOfText(template: string, { readText, encode, missing }: Parts): Generator<string> {
  let end = 0;
  for (const { 0: whole, 1: content = "", index } of template.matchAll(placeholder)) {
    yield template.slice(end, index);
    end = index + whole.length;
    const { name = "", byDefault } = parsePlaceholder(content) ?? {};
    const value = readText(name) || byDefault;
    if (value === undefined) {
      missing.add(name);
    }
    const filled = cutText(value ?? "", maxValueLength);
    yield encode ? encode(filled) : filled;
  }
  yield template.slice(end);
}

function* partsOfJson(template: unknown, parts: Parts): Generator<string> {
  if (Array.isArray(template)) {
    yield* partsOfMembers(template, parts);
  } else if (typeof template === "object" && template !== null) {
    let separator = "{";
    for (const [name, member] of Object.entries(template)) {
      yield `${separator}${JSON.stringify(name)}:`;
      yield* partsOfJson(member, parts);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else if (typeof template === "string") {
    yield* partsOfJsonText(template, parts);
  } else {
    yield JSON.stringify(template);
  }
}

function* partsOfMembers(members: readonly unknown[], parts: Parts): Generator<string> {
  let separator = "[";
  for (const member of members) {
    yield separator;
    yield* partsOfJson(member, parts);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

function* partsOfJsonText(template: string, parts: Parts): Generator<string> {
  const { 1: content } = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(template) ?? [];
  if (content !== undefined) {
    yield JSON.stringify(readWhole(content, parts));
    return;
  }
  yield '"';
  for (const part of partsOfText(template, parts)) {
    yield encodeJson(part);
  }
  yield '"';
}

/** The value of a placeholder that is the whole text. */
function readWhole(content: string, { read, missing }: Parts): unknown {
  const { name = "", byDefault = null } = parsePlaceholder(content) ?? {};
  const value = read(name);
  if (value !== undefined && value !== null && value !== "") {
    return value;
  }
  if (byDefault === null) {
    missing.add(name);
  }
  return byDefault;
}

/** A text within a JSON text. */
export function encodeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A name, with or without a default; undefined for anything else. Parsed by hand, because a regular
 * expression would read spaces twice.
 */
function parsePlaceholder(
  content: string,
): { readonly name: string; readonly byDefault?: string } | undefined {
  const [before = "", ...after] = content.split("|");
  const name = before.trim();
  if (name === "" || name.includes('"')) {
    return undefined;
  }
  if (after.length === 0) {
    return { name };
  }
  const filter = after.join("|").trim();
  const text = filter.startsWith("default:") ? filter.slice("default:".length).trim() : "";
  const byDefault = text.slice(1, -1);
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"') && !byDefault.includes('"');
  return isQuoted ? { name, byDefault } : undefined;
}

export function hasPlaceholder(text: string): boolean {
  return text.search(placeholder) >= 0;
}

/** The variables that a flow saves. */
export interface SavedNames {
  has(variable: string): boolean;
  readonly names: readonly string[];
}

/** `names` have the form of placeholders after `vars.`: mail, order.status, order.body.<path>. */
export function createSavedNames(names: Iterable<string>): SavedNames {
  const known = new Set(names);
  return {
    names: [...known],
    has(variable) {
      if (known.has(variable)) {
        return true;
      }
      const segments = variable.split(".", 3);
      const [first = "", second = "", third] = segments;
      const isPath = second !== "" && !`.${variable}.`.includes("..");
      return (
        isPath &&
        (known.has(`${first}.<path>`) || (third !== undefined && known.has(`${first}.${second}.<path>`)))
      );
    },
  };
}

/** The problems of the placeholders that can't be filled in, each once. */
export function checkText(template: string, field: string, variables: SavedNames): Problem[] {
  const contents = new Set([...template.matchAll(placeholder)].map(([, content = ""]) => content));
  const problems: Problem[] = [];
  for (const content of contents) {
    const { name } = parsePlaceholder(content) ?? {};
    if (name === undefined) {
      const fix = 'Send a name, with or without a default: {{contact.name | default: "there"}}.';
      problems.push(problem(field, `The placeholder {{${content}}} is not valid.`, fix));
    } else if (!isKnown(name, variables)) {
      problems.push(unknownName(field, name, variables));
    }
    if (problems.length >= maxProblems) {
      return problems;
    }
  }
  return problems;
}

function isKnown(name: string, variables: SavedNames): boolean {
  if (name.startsWith("vars.")) {
    return variables.has(name.slice("vars.".length));
  }
  return names.some((known) => known === name) || /^contact\.metadata\.[^<]/.test(name);
}

function unknownName(field: string, name: string, variables: SavedNames): Problem {
  const saved = variables.names.map((variable) => `vars.${variable}`);
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

/** Returns undefined for a value without a text. */
function toText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const texts: string[] = [];
    collectTexts(value, texts, { left: maxMembers });
    return texts.join(", ");
  }
  const hasText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return hasText ? String(value) : undefined;
}

function collectTexts(members: readonly unknown[], texts: string[], budget: { left: number }): void {
  for (const member of members) {
    if (budget.left <= 0) {
      return;
    }
    budget.left -= 1;
    if (Array.isArray(member)) {
      collectTexts(member, texts, budget);
    } else {
      const text = toText(member);
      texts.push(...(text === undefined ? [] : [cutText(text, maxValueLength)]));
    }
  }
}
