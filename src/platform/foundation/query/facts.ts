/** Reads the facts about a contact or a conversation, and compares them with operands. */
import type { Value } from "./query.ts";
import { normalizeText, readTimestamp } from "./values.ts";

interface Source {
  get(attribute: string): unknown;
}

/** Values by attribute name: computed on demand, or a record whose keys may be dotted or nested. */
export type Facts = Source | Readonly<Record<string, unknown>>;

/** Returns undefined for a missing fact. */
export function readFact(facts: Facts, attribute: string): unknown {
  if (isSource(facts)) {
    return facts.get(attribute);
  }
  if (Object.hasOwn(facts, attribute)) {
    return facts[attribute];
  }
  return attribute
    .split(".")
    .reduce<unknown>(
      (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      facts,
    );
}

/** A fact as a list: empty when it is missing, one element when it is a single value. */
export function elementsOf(fact: unknown): readonly unknown[] {
  if (fact === undefined || fact === null) {
    return [];
  }
  return Array.isArray(fact) ? fact : [fact];
}

/**
 * Whether an element of the fact equals a value: times are compared as times, and everything else as text.
 * The elements are converted once, because a long list may be compared with many values.
 */
export function comparisonWith(fact: unknown): (value: Value) => boolean {
  const elements = elementsOf(fact);
  let texts: ReadonlySet<unknown> | undefined;
  let times: ReadonlySet<unknown> | undefined;
  return (value) => {
    if (value instanceof Date) {
      times ??= new Set(elements.map(timeOf));
      return times.has(value.getTime());
    }
    texts ??= new Set(elements.map(textOf));
    return texts.has(String(value));
  };
}

/** Negative, zero or positive. NaN, for which every comparison is false, if the two can't be compared. */
export function compareFact(fact: unknown, value: number | Date): number {
  return value instanceof Date ? timeOf(fact) - value.getTime() : numberOf(fact) - value;
}

/** The normalized text; undefined for a value without one, for example an object. */
export function textOf(fact: unknown): string | undefined {
  if (typeof fact === "string") {
    return normalizeText(fact);
  }
  return typeof fact === "number" || typeof fact === "boolean" ? String(fact) : undefined;
}

/** Milliseconds since 1970, or NaN. A date without a time, as in custom attributes, is midnight in UTC. */
export function timeOf(fact: unknown): number {
  if (fact instanceof Date) {
    return fact.getTime();
  }
  const isDate = typeof fact === "string" && /^\d{4}-\d\d-\d\d$/.test(fact);
  return readTimestamp(isDate ? `${fact}T00:00:00Z` : fact)?.getTime() ?? Number.NaN;
}

/** A number, or a number stored as text, as in answers to questions; otherwise NaN. */
function numberOf(fact: unknown): number {
  const isNumeric = typeof fact === "string" && /^[+-]?\d+(?:\.\d+)?$/.test(fact.trim());
  return typeof fact === "number" || isNumeric ? Number(fact) : Number.NaN;
}

function isSource(facts: Facts): facts is Source {
  return typeof facts.get === "function";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
