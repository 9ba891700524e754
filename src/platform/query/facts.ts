/** What is known of a contact or a conversation, and how it compares with an operand. */
import type { Value } from "./query.ts";
import { fold, readMoment } from "./values.ts";

interface Source {
  get(attribute: string): unknown;
}

/** What is known: answered on demand, or a record whose names may be dotted or nested. */
export type Facts = Source | Readonly<Record<string, unknown>>;

/** The fact of this name; undefined when it is missing. */
export function lookUp(facts: Facts, attribute: string): unknown {
  if (isSource(facts)) {
    return facts.get(attribute);
  }
  if (Object.hasOwn(facts, attribute)) {
    return facts[attribute];
  }
  return attribute
    .split(".")
    .reduce<unknown>((at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), facts);
}

/** A fact as a list: empty when it is missing, its elements when it is one. */
export function elementsOf(fact: unknown): readonly unknown[] {
  if (fact === undefined || fact === null) {
    return [];
  }
  return Array.isArray(fact) ? fact : [fact];
}

/** Moments by the moment, numbers by the number when both are, and everything else as text. */
export function isEqual(fact: unknown, value: Value): boolean {
  if (value instanceof Date) {
    return momentOf(fact) === value.getTime();
  }
  return typeof fact === "number" && typeof value === "number"
    ? fact === value
    : textOf(fact) === String(value);
}

/** Below, at or above zero; NaN when the two can't be compared, which no comparison holds for. */
export function orderOf(fact: unknown, value: number | Date): number {
  return value instanceof Date ? momentOf(fact) - value.getTime() : numberOf(fact) - value;
}

/** Text as it is compared; undefined for what has no text, as an object. */
export function textOf(fact: unknown): string | undefined {
  if (typeof fact === "string") {
    return fold(fact);
  }
  return typeof fact === "number" || typeof fact === "boolean" ? String(fact) : undefined;
}

/** Milliseconds since 1970, or NaN. A date without a time, as custom attributes hold them, begins in UTC. */
export function momentOf(fact: unknown): number {
  if (fact instanceof Date) {
    return fact.getTime();
  }
  const isDay = typeof fact === "string" && /^\d{4}-\d\d-\d\d$/.test(fact);
  return readMoment(isDay ? `${fact}T00:00:00Z` : fact)?.getTime() ?? Number.NaN;
}

/** A number, or one that was stored as text, as an answer to a question is; else NaN. */
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
