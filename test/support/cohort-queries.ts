/** Generated contacts and queries, and the evaluation of a cohort's query in memory. */
import fc from "fast-check";
import { cohortAttributes, matchesQuery } from "../../src/platform/foundation/query/index.ts";
import { operatorsOf } from "../../src/platform/foundation/query/operands.ts";
import {
  type Attribute,
  type Condition,
  operatorFamilies,
  type Query,
} from "../../src/platform/foundation/query/query.ts";
import { normalizeTag } from "../../tools/contract/index.ts";
import { nearlyTimes, numbers, times, words } from "./odd-values.ts";

/** What the evaluator reads: a contact's row with its derived attributes, and its conversations. */
export interface CohortFacts {
  readonly contact: Readonly<Record<string, unknown>>;
  readonly conversations: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The meaning of a cohort's query: `matchesQuery` for the contact, and for conversations as the documentation
 * defines it. Those conditions on conversations that stand in one `and` are about one conversation, which is
 * empty if there is none.
 */
export function matchesCohort(query: Query, facts: CohortFacts, now: Date): boolean {
  if (query.kind === "or") {
    return query.queries.some((part) => matchesCohort(part, facts, now));
  }
  if (query.kind === "not") {
    return !matchesCohort(query.query, facts, now);
  }
  const parts = query.kind === "and" ? query.queries : [query];
  const onConversation = parts.filter(isOnConversation);
  const conversations = facts.conversations.length > 0 ? facts.conversations : [{}];
  return (
    conversations.some((conversation) =>
      onConversation.every((part) => matchesQuery(part, { conversation }, now)),
    ) &&
    parts.every(
      (part) =>
        isOnConversation(part) ||
        (part.kind === "condition"
          ? matchesQuery(part, contactFacts(part, facts), now)
          : matchesCohort(part, facts, now)),
    )
  );
}

/** `within_last` asks for any message in that time; the other operators, for the last one. */
function contactFacts({ operator }: Condition, { contact, conversations }: CohortFacts) {
  const times = conversations.map(({ last_user_message_at }) => last_user_message_at);
  return operator.endsWith("within_last") ? { ...contact, last_user_message_at: times } : contact;
}

function isOnConversation(query: Query): boolean {
  return query.kind === "condition" && query.attribute.startsWith("conversation.");
}

export const cohortNow = new Date("2026-03-10T12:00:00.000Z");

const storable = (text: string) => !text.includes("\0") && text.isWellFormed();

const text = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
  )
  .filter(storable);
const time = fc.constantFrom(...times);
const storedTime = time
  .filter((value) => !value.startsWith("0001"))
  .map((value) => new Date(value).toISOString());
const number = fc.oneof(
  fc.constantFrom(...numbers),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);
const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("city", "a", "b", "0", "Key", "ключ", "constructor", "with space", `'"`, "%"),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ minLength: 1, maxLength: 4, unit: "grapheme" })
      .filter((key) => storable(key) && !key.includes(".")),
  },
);

const jsonScalar = fc.oneof(
  text,
  time,
  fc.constantFrom(...nearlyTimes),
  number,
  fc.boolean(),
  fc.constant(null),
);
const jsonValue = fc.letrec<{ value: unknown; object: object; list: unknown[] }>((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, jsonScalar, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
})).value;

const tag = text.map(normalizeTag).filter((value) => value !== "");
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const oddValues: readonly unknown[] = [...words, ...times, ...nearlyTimes, ...numbers, true, false];

/** Values that are hard to compare, in metadata: each alone, in a list, and as the name. */
export const oddContacts = oddValues.flatMap((value) => [
  { metadata: { a: value }, name: String(value) },
  { metadata: { a: ["other", value] }, name: "" },
]);

/** Every test of one value, with every operand. */
export const oddQueries: readonly unknown[] = [
  ...oddValues.map((value) => ({ attribute: "metadata.a", operator: "eq", value })),
  ...words.map((value) => ({ attribute: "name", operator: "eq", value })),
  ...["contains", "starts_with", "ends_with"].flatMap((operator) =>
    oddValues
      .filter((value) => value !== "")
      .map((value) => ({ attribute: "metadata.a", operator, value: String(value) })),
  ),
  ...["gt", "gte", "lt", "lte"].flatMap((operator) =>
    [...times, ...numbers].map((value) => ({ attribute: "metadata.a", operator, value })),
  ),
];

/** The parts of a contact, and of its conversations. */
export const contactArbitrary = fc.record({
  phone: fc.constantFrom("+4915112345", "+1415555", "+8001234", "+3312345", "+447700900"),
  name: maybe(text),
  tags: fc.uniqueArray(tag, { maxLength: 3 }),
  metadata: fc
    .tuple(
      fc.dictionary(name, jsonValue, { maxKeys: 3, noNullPrototype: true, size: "max" }),
      jsonValue,
      jsonValue,
    )
    .map(([others, a, b]) => ({ ...others, a, b })),
  opted_out: fc.boolean(),
  isBlocked: fc.boolean(),
  created_at: storedTime,
  updated_at: storedTime,
  conversations: fc.array(
    fc.record({
      status: fc.constantFrom("open", "pending", "closed", "snoozed", "spam"),
      assigned_to: maybe(fc.constantFrom("usr_1", "usr_2")),
      tags: fc.uniqueArray(tag, { maxLength: 3 }),
      is_favorite: fc.boolean(),
      last_message_at: maybe(storedTime),
      last_user_message_at: maybe(storedTime),
    }),
    { maxLength: 2 },
  ),
});
export type GeneratedContact = typeof contactArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const list = (value: fc.Arbitrary<unknown>) => fc.array(value, { minLength: 1, maxLength: 4 });
const part = text.filter((value) => value !== "");
const span = fc.constantFrom("30m", "24h", "7d", "10d", "99999d");
const ordered = (value: fc.Arbitrary<string | number>, compare: (one: never, other: never) => number) =>
  fc.tuple(value, value).map((pair) => [...pair].sort(compare as () => number));
const timeRange = ordered(time, (one: string, other: string) => Date.parse(one) - Date.parse(other));
const numberRange = ordered(number, (one: number, other: number) => one - other);
const none = fc.constant(undefined);

/** The operands of a family, by the type of the attribute; several where they compile differently. */
function operandsOf(attribute: Attribute, operator: keyof typeof operatorFamilies): fc.Arbitrary<unknown>[] {
  const family = operatorFamilies[operator];
  const scalar: Record<Attribute["type"], fc.Arbitrary<unknown>> = {
    text,
    number,
    date: time,
    boolean: fc.boolean(),
    tags: tag,
    enum: fc.constantFrom(...(attribute.type === "enum" ? attribute.values : [""])),
    any: fc.oneof(text, number, fc.boolean(), fc.constantFrom(...times, ...nearlyTimes)),
  };
  const isAny = attribute.type === "any";
  return {
    equality: [scalar[attribute.type]],
    membership: [list(scalar[attribute.type])],
    part: [attribute.type === "tags" ? tag : part],
    edge: [part],
    order: isAny ? [time, number] : [scalar[attribute.type]],
    range: isAny ? [timeRange, numberRange] : [timeRange],
    time: [time],
    span: [span],
    set: [list(tag)],
    presence: [none],
  }[family];
}

/** Two queries that differ only in their values and in the names of their metadata paths. */
export type QueryPair = readonly [unknown, unknown];

const condition: fc.Arbitrary<QueryPair> = fc
  .constantFrom(...Object.entries<Attribute>(cohortAttributes))
  .chain(([pattern, attribute]) =>
    fc.constantFrom(...operatorsOf(attribute.type)).chain((operator) =>
      fc
        .tuple(fc.constantFrom(...operandsOf(attribute, operator)), fc.constantFrom(1, 1, 1, 2, 3))
        .chain(([operand, length]) => {
          const path = fc.array(name, { minLength: length, maxLength: length });
          const one = fc.tuple(operand, path).map(([value, names]) => ({
            attribute: pattern.replace("<path>", () => names.join(".")),
            operator,
            ...(value === undefined ? {} : { value }),
          }));
          return fc.tuple(one, one);
        }),
    ),
  );

/** A condition on times for one of the attributes, or its negation. */
export const dateQueryArbitrary = (attributes: readonly string[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.constantFrom(...attributes),
      fc.oneof(
        fc.tuple(fc.constantFrom("before", "after", "gte", "lte"), time),
        fc.tuple(fc.constant("between"), timeRange),
        fc.tuple(fc.constantFrom("within_last", "not_within_last"), span),
      ),
      fc.boolean(),
    )
    .map(([attribute, [operator, value], isNegated]) => {
      const condition = { attribute: `metadata.${attribute}`, operator, value };
      return isNegated ? { not: condition } : condition;
    });

const pairs =
  (group: "and" | "or") =>
  (parts: readonly QueryPair[]): QueryPair => [
    { [group]: parts.map(([one]) => one) },
    { [group]: parts.map(([, other]) => other) },
  ];

export const queryArbitrary: fc.Arbitrary<QueryPair> = fc.letrec<
  Record<"query" | "and" | "or" | "not", QueryPair>
>((tie) => ({
  query: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    condition,
    tie("and"),
    tie("or"),
    tie("not"),
  ),
  and: fc.array(tie("query"), { minLength: 1, maxLength: 4 }).map(pairs("and")),
  or: fc.array(tie("query"), { minLength: 1, maxLength: 3 }).map(pairs("or")),
  not: tie("query").map(([one, other]): QueryPair => [{ not: one }, { not: other }]),
})).query;
