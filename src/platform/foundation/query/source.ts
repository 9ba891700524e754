/**
 * The sources of a query: where SQL finds the value of each attribute. The modules that own the tables
 * declare them, by `valueSource`, `tagsSource` and `jsonSource`.
 */
import { sql } from "kysely";
import { type ComparedValue, compareValue, type Forms, listOfValues, oneValue } from "./compare.ts";
import type { Expression, Predicate } from "./predicate.ts";
import type { PositiveCondition } from "./query.ts";
import { isNear, isTimeWithin, timesOf } from "./time-texts.ts";

export interface SourceContext {
  readonly organization: string;
  readonly now: Date;
}

export interface Source {
  /** Which row the expressions refer to: the row that the query selects, or a row that is related to it. */
  readonly of: "own" | "related";
  test(condition: PositiveCondition): Predicate;
}

/**
 * The source of each attribute, by its name. A part in angle brackets, as in `metadata.<path>`, stands for
 * any text.
 */
export type Sources = Readonly<Record<string, (context: SourceContext, attribute: string) => Source>>;

/** The rows that are related to the row that the query selects, such as the conversations of a contact. */
export interface RelatedRows {
  /** Whether a related row meets the condition; never null. */
  exists(context: SourceContext, condition: Predicate): Predicate;
}

/** An attribute with one value at most: text, a time, or a truth value as text. */
export function valueSource(
  of: Source["of"],
  { exists, ...forms }: Pick<Forms, "text" | "time"> & { readonly exists: Predicate },
) {
  const value: ComparedValue = { shape: oneValue, ...forms };
  return ({ now }: SourceContext): Source => ({
    of,
    test: (condition) => (condition.operator === "exists" ? exists : compareValue(value, condition, now)),
  });
}

/** An attribute that is a list of texts; each test gets the operands as an array. */
export function tagsSource(
  of: Source["of"],
  {
    hasAny,
    hasAll,
    exists,
  }: {
    readonly hasAny: (tags: Expression) => Predicate;
    readonly hasAll: (tags: Expression) => Predicate;
    readonly exists: Predicate;
  },
) {
  return (): Source => ({
    of,
    test({ operator, value }) {
      if (operator === "exists") {
        return exists;
      }
      // `contains` has one tag as its operand, the other operators have a list.
      const operands = sql`${[value].flat().map(String)}::text[]`;
      return operator === "has_all" ? hasAll(operands) : hasAny(operands);
    },
  });
}

interface JsonForms {
  readonly value: Expression;
  /** The value as text, as `->>` gives it. */
  readonly plainText: Expression;
  /** The value with normalized texts. */
  readonly normalized: Expression;
  /** The value as a time; null if it is not stored, or not a time. Reading it from the JSON takes longer. */
  readonly storedTime: Expression;
}

/** An attribute in JSON: one value of any type, or a list. */
export function jsonSource(of: Source["of"], { value, plainText, normalized, storedTime }: JsonForms) {
  const single: ComparedValue = {
    shape: oneValue,
    text: sql`json_text(${normalized})`,
    number: sql`json_number(${value})`,
    time: sql`json_time(${value})`,
  };
  const list: ComparedValue = {
    shape: listOfValues,
    text: sql`json_texts(${normalized})`,
    number: sql`json_numbers(${value})`,
    time: sql`json_times(${value})`,
  };
  const stored: ComparedValue = { shape: oneValue, time: storedTime };
  return ({ now }: SourceContext): Source => ({
    of,
    test(condition) {
      if (condition.operator === "exists") {
        // A JSON null and an empty list count as missing.
        return sql<boolean>`(${value} not in ('null'::jsonb, '[]'::jsonb))`;
      }
      const range = timesOf(condition, now);
      const ofOne = compareValue(single, condition, now);
      const ofAny = (one: Predicate) => sql<boolean>`case jsonb_typeof(${value})
        when 'array' then ${compareValue(list, condition, now)} else ${one} end`;
      if (!range) {
        return ofAny(ofOne);
      }
      const otherwise = ofAny(sql`${isNear(range, plainText)} and ${ofOne}`);
      const inJson = isTimeWithin(range, { text: plainText, value, otherwise });
      // The comparison with a time that is not stored is null.
      return sql<boolean>`coalesce(${compareValue(stored, condition, now)}, ${inJson})`;
    },
  });
}
