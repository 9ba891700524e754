/** The query language: what each operator finds in each type of attribute, and what is refused where. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contactAttributes, conversationAttributes, countryOf } from "../src/platform/query/attributes.ts";
import type { Facts } from "../src/platform/query/facts.ts";
import { matchesQuery } from "../src/platform/query/matches.ts";
import { operatorsOf } from "../src/platform/query/operands.ts";
import { parseQuery } from "../src/platform/query/parse.ts";
import type { Attributes, ValueType } from "../src/platform/query/query.ts";
import { type QueryOperator, queryOperators } from "../tools/cohorts.ts";
import { Failure } from "../tools/contract/index.ts";

const now = new Date("2026-03-10T12:00:00Z");
const noon = "2026-03-01T12:00:00Z";
const earlier = "2026-02-01T00:00:00Z";
const later = "2026-03-09T12:00:00Z";

/** One attribute of each type. */
const attributes = {
  name: { type: "text" },
  score: { type: "number" },
  at: { type: "date" },
  vip: { type: "boolean" },
  tags: { type: "tags" },
  status: { type: "enum", values: ["open", "closed"] },
  "metadata.<path>": { type: "any" },
} as const satisfies Attributes;

const find = (query: unknown, facts: Facts) =>
  matchesQuery(parseQuery(query, { field: "query", attributes }), facts, now);

function refusal(query: unknown, known: Attributes = attributes): Failure {
  try {
    parseQuery(query, { field: "query", attributes: known });
  } catch (error) {
    if (error instanceof Failure) {
      return error;
    }
    throw error;
  }
  throw new Error("It was not refused.");
}

/** The negative operators; each is exactly the negation of its opposite. */
const opposites = {
  neq: "eq",
  not_contains: "contains",
  not_in: "in",
  not_exists: "exists",
  not_within_last: "within_last",
} as const satisfies { [Operator in QueryOperator]?: QueryOperator };
const negative: readonly QueryOperator[] = Object.keys(opposites) as (keyof typeof opposites)[];

type Case = readonly [value: unknown, hits: readonly unknown[], misses: readonly unknown[]];

/** For each attribute, a case of each operator that its type takes; null is tried with all of them. */
const cases: Readonly<Record<string, { readonly [Operator in QueryOperator]?: Case }>> = {
  name: {
    eq: ["ANN", ["ann", "Ann", "Ａｎｎ"], ["anna", ""]],
    neq: ["ANN", ["anna", ""], ["ann"]],
    contains: ["ΟΔΟΣ", ["Νέα οδος", "οδοσα"], ["od"]],
    not_contains: ["nn", ["Bob"], ["Anna", "ANN"]],
    starts_with: ["An", ["ANNA"], ["Hannah"]],
    ends_with: ["NA", ["Anna"], ["Nathan"]],
    in: [["ann", "bob"], ["BOB"], ["Carl"]],
    not_in: [["ann", "bob"], ["Carl"], ["Ann"]],
    exists: [undefined, ["Ann", ""], []],
    not_exists: [true, [], ["Ann"]],
  },
  score: {
    eq: [5, [5, 5.0], [4]],
    neq: [5, [4], [5]],
    in: [[1, 2], [2], [3]],
    not_in: [[1, 2], [3], [2]],
    gt: [5, [5.1, "6"], [5, "x", "4"]],
    gte: [5, [5], [4.9]],
    lt: [10, [9, "9"], [10, "11"]],
    lte: [10, [10], [10.1]],
    between: [
      [1, 3],
      [1, 2, 3],
      [0.9, 3.1],
    ],
    exists: [undefined, [0], []],
    not_exists: [null, [], [0]],
  },
  at: {
    eq: ["2026-03-01T14:00:00+02:00", [noon, new Date(noon), "2026-03-01T12:00:00.000Z"], [later]],
    neq: [noon, [later], [noon]],
    in: [[noon, later], [later], [earlier]],
    not_in: [[noon, later], [earlier], [noon]],
    gt: [noon, [later], [noon, earlier]],
    gte: [noon, [noon], [earlier]],
    lt: [noon, [earlier, "2026-02-28"], [noon, "2026-03-02"]],
    lte: [noon, [noon], [later]],
    between: [[earlier, noon], [earlier, noon], [later]],
    before: [noon, [earlier], [noon, "not a date"]],
    after: [noon, [later], [noon, "2026-02-31T00:00:00Z"]],
    within_last: ["24h", [later, now], [noon, "2026-03-09T11:59:59Z", "2026-03-10T12:00:01Z"]],
    not_within_last: ["7d", [noon], [later]],
    exists: [undefined, [noon], []],
    not_exists: [undefined, [], [noon]],
  },
  vip: {
    eq: [true, [true], [false]],
    neq: [true, [false], [true]],
    in: [[false], [false], [true]],
    not_in: [[false], [true], [false]],
    exists: [undefined, [false], []],
    not_exists: [undefined, [], [false]],
  },
  status: {
    eq: ["OPEN", ["open"], ["closed"]],
    neq: ["open", ["closed"], ["open"]],
    in: [["open", "closed"], ["closed"], ["spam"]],
    not_in: [["open"], ["closed"], ["open"]],
    exists: [undefined, ["open"], []],
    not_exists: [undefined, [], ["open"]],
  },
  tags: {
    contains: ["VIP", [["vip", "new"]], [["vip-lost"], []]],
    not_contains: ["vip", [["vip-lost"], []], [["VIP"]]],
    in: [["vip", "new"], [["new"]], [["old"], []]],
    not_in: [["vip", "new"], [["old"], []], [["new"]]],
    has_any: [["vip", "New"], [["new", "x"]], [["x"], []]],
    has_all: [["vip", "new"], [["NEW", "x", "vip"]], [["vip"], []]],
    exists: [undefined, [["x"]], [[]]],
    not_exists: [undefined, [[]], [["x"]]],
  },
  "metadata.a.b": {
    eq: [42, [42, "42", [1, 42]], [43, "042", { c: 42 }]],
    neq: ["True", [false, "x", {}], [true, "true"]],
    in: [
      [1, "x", true],
      ["1", "X", true, ["x"]],
      [2, false],
    ],
    not_in: [
      [1, "x"],
      [2, {}],
      [1, ["y", "x"]],
    ],
    contains: ["ol", ["Golf", ["tennis", "OL"]], ["Tennis", ["golf"], {}]],
    not_contains: ["ol", ["Tennis", ["golf"]], ["Golf"]],
    starts_with: ["12", [123, "1200"], [312]],
    ends_with: ["f", ["GOLF", ["a", "golf"]], ["g", {}]],
    gt: [9, [10, "10"], [9, "9", "ten", noon, true]],
    gte: [noon, [noon, later], [earlier, 99]],
    lt: [9, [8.5, "-1"], [9, "", null]],
    lte: [9, [9], [10]],
    between: [[earlier, noon], ["2026-02-14"], ["2026-04-01", 5]],
    before: [noon, [earlier], [later, 1]],
    after: [noon, [later], [earlier]],
    within_last: ["30m", ["2026-03-10T11:30:00Z"], ["2026-03-10T11:29:59Z", "x"]],
    not_within_last: ["30m", [earlier, "x"], [now.toISOString()]],
    exists: [undefined, ["", 0, false, {}], [[]]],
    not_exists: [undefined, [[]], [0]],
  },
};

const wholeNames: Readonly<Record<string, ValueType>> = { "metadata.a.b": "any" };
const typeOf = (attribute: string): ValueType =>
  wholeNames[attribute] ?? attributes[attribute as keyof typeof attributes].type;
const factsOf = (attribute: string, fact: unknown): Facts =>
  attribute === "metadata.a.b" ? { metadata: { a: { b: fact } } } : { [attribute]: fact };

describe.each(Object.entries(cases))("%s", (attribute, ofOperator) => {
  test("has a case for every operator of its type", () => {
    expect(Object.keys(ofOperator).sort()).toEqual([...operatorsOf(typeOf(attribute))].sort());
  });

  const rows = Object.entries(ofOperator) as [QueryOperator, Case][];
  test.each(rows)("%s finds what it should and nothing else", (operator, [value, hits, misses]) => {
    const isFound = (fact: unknown) => find({ attribute, operator, value }, factsOf(attribute, fact));
    expect(hits.filter((fact) => !isFound(fact))).toEqual([]);
    expect(misses.filter(isFound)).toEqual([]);
  });

  test.each(rows)("%s finds what is missing only if it is negative", (operator, [value]) => {
    const query = { attribute, operator, value };
    const missing = [{}, factsOf(attribute, null), factsOf(attribute, undefined), { get: () => undefined }];
    expect(missing.map((facts) => find(query, facts))).toEqual(
      missing.map(() => negative.includes(operator)),
    );
  });

  const others = queryOperators.filter((operator) => !(operator in ofOperator));
  test.each(others)("%s is refused, with what may be asked instead", (operator) => {
    const failure = refusal({ and: [{ attribute, operator, value: "x" }] });
    expect(failure).toMatchObject({ status: 400, code: "operator_not_applicable" });
    expect(failure.detail.param).toBe("query.and[0].operator");
    expect(failure.body().error.fix).toBe(`Use one of: ${operatorsOf(typeOf(attribute)).join(", ")}.`);
  });
});

describe("a query is refused where it is wrong", () => {
  const ok = { attribute: "vip", operator: "exists" };
  const nested = (levels: number): unknown => (levels === 0 ? ok : { not: nested(levels - 1) });
  const value = (attribute: string, operator: QueryOperator, given?: unknown) => ({
    attribute,
    operator,
    value: given,
  });
  const long = value("score", "in", Array(501).fill(1));

  test.each<[query: unknown, code: string, param: string, said: string]>([
    [[ok], "query_malformed", "query", '{"and":[…]}'],
    [null, "query_malformed", "query", "object"],
    [{ and: [] }, "query_malformed", "query.and", "not empty"],
    [{ or: ok }, "query_malformed", "query.or", "list"],
    [{ not: [ok] }, "query_malformed", "query.not", "object"],
    [{ and: [ok], or: [ok] }, "query_malformed", "query", "exactly one key"],
    [{ and: [ok, "vip"] }, "query_malformed", "query.and[1]", "object"],
    [{ and: [{}] }, "unknown_attribute", "query.and[0].attribute", "metadata.<path>"],
    [
      { and: [ok, { ...ok, operator: "is" }] },
      "unknown_operator",
      "query.and[1].operator",
      "not_within_last",
    ],
    [{ attribute: "vip" }, "unknown_operator", "query.operator", "none was sent"],
    [{ ...ok, operator: "toString" }, "unknown_operator", "query.operator", "toString"],
    [{ ...ok, attribute: "constructor" }, "unknown_attribute", "query.attribute", "name, score"],
    [{ ...ok, attribute: "metadata." }, "unknown_attribute", "query.attribute", "metadata.<path>"],
    [{ ...ok, attribute: "metadata.a..b" }, "unknown_attribute", "query.attribute", "metadata.<path>"],
    [
      { or: [{ ...ok, negate: true }] },
      "unknown_argument",
      "query.or[0].negate",
      "attribute, operator, value",
    ],
    [value("name", "eq"), "query_value_invalid", "query.value", "text"],
    [value("name", "eq", 5), "query_value_invalid", "query.value", "text"],
    [value("name", "contains", ""), "query_value_invalid", "query.value", "not empty"],
    [value("name", "in", []), "query_value_invalid", "query.value", "not empty"],
    [value("name", "in", "ann"), "query_value_invalid", "query.value", "list"],
    [value("name", "in", ["ann", 5]), "query_value_invalid", "query.value[1]", "text"],
    [value("score", "gt", "5"), "query_value_invalid", "query.value", "a number"],
    [value("score", "between", [3, 1]), "query_value_invalid", "query.value", "smaller first"],
    [value("score", "between", [1]), "query_value_invalid", "query.value", "list of two"],
    [value("score", "between", [1, "2"]), "query_value_invalid", "query.value[1]", "a number"],
    [value("metadata.x", "between", [1, noon]), "query_value_invalid", "query.value", "same type"],
    [value("metadata.x", "gt", "ten"), "query_value_invalid", "query.value", "a number"],
    [value("metadata.x", "eq", null), "query_value_invalid", "query.value", "not_exists"],
    [value("at", "before", "2026-03-01"), "query_value_invalid", "query.value", "2026-03-01T09:00:00+02:00"],
    [value("at", "after", "2026-03-01T12:00:00"), "query_value_invalid", "query.value", "offset"],
    [value("at", "after", "2026-02-31T12:00:00Z"), "query_value_invalid", "query.value", "offset"],
    [value("at", "after", "0000-01-01T00:00:00Z"), "query_value_invalid", "query.value", "offset"],
    ...["7", "7w", "0d", "-1d", "7 d", "1.5h", 7, "100000d"].map(
      (span): [unknown, string, string, string] => [
        value("at", "within_last", span),
        "query_value_invalid",
        "query.value",
        '"30m", "24h" or "7d"',
      ],
    ),
    [value("vip", "eq", "true"), "query_value_invalid", "query.value", "true or false"],
    [value("vip", "exists", false), "query_value_invalid", "query.value", "leave it out"],
    [value("status", "eq", "done"), "query_value_invalid", "query.value", "one of: open, closed"],
    [value("tags", "has_any", "vip"), "query_value_invalid", "query.value", "list"],
    [value("tags", "has_all", [" "]), "query_value_invalid", "query.value[0]", "a tag"],
    [nested(6), "query_too_large", "query.not.not.not.not.not", "5 levels"],
    [{ and: Array(51).fill(ok) }, "query_too_large", "query.and[50]", "50 conditions"],
    [{ or: [long, long] }, "query_too_large", "query.or[1].value", "1000 values"],
  ])("%j", (query, code, param, said) => {
    const failure = refusal(query);
    expect(failure).toMatchObject({ status: 400, code, detail: { param } });
    const { message, fix } = failure.body().error;
    expect(`${message} ${fix}`).toContain(said);
    expect(`${message} ${fix}`).not.toMatch(/\{\w+\}/);
  });

  test("and what is just within the limits is read", () => {
    expect(find(nested(5), { vip: true })).toBe(false);
    expect(find({ and: Array(50).fill(ok) }, { vip: true })).toBe(true);
    const half = value("score", "in", Array(500).fill(1));
    expect(find({ or: [half, half] }, { score: 1 })).toBe(true);
  });
});

test("nothing asked is everything", () => {
  expect(find({}, {})).toBe(true);
});

test("facts are answered on demand, or stand under dotted or nested names", () => {
  const query = { attribute: "metadata.plan", operator: "eq", value: "pro" };
  const known: readonly Facts[] = [
    new Map([["metadata.plan", "Pro"]]),
    { "metadata.plan": "Pro" },
    { metadata: { plan: "Pro" } },
  ];
  expect(known.map((facts) => find(query, facts))).toEqual([true, true, true]);
  expect(find({ attribute: "metadata.constructor.name", operator: "exists" }, { metadata: {} })).toBe(false);
});

test("a conversation is asked about its contact, itself and the latest message", () => {
  const query = parseQuery(
    {
      and: [
        { attribute: "country", operator: "in", value: ["de", "AT"] },
        { attribute: "conversation.status", operator: "eq", value: "open" },
        { attribute: "message.text", operator: "contains", value: "refund" },
        { not: { attribute: "conversation.assigned_to", operator: "exists" } },
      ],
    },
    { field: "conditions", attributes: conversationAttributes },
  );
  const facts = {
    country: countryOf("+4915112345678"),
    conversation: { status: "open", assigned_to: null },
    message: { type: "text", text: "A REFUND, please" },
  };
  expect(matchesQuery(query, facts, now)).toBe(true);
  expect(matchesQuery(query, { ...facts, country: countryOf("+14155550123") }, now)).toBe(false);
});

test("a country is asked for by its code, and a number without a country has none", () => {
  const failure = refusal({ attribute: "country", operator: "eq", value: "Germany" }, contactAttributes);
  expect(failure.body().error.fix).toBe("Send a two-letter country code (ISO 3166), for example DE.");
  expect([countryOf("+80012345678"), countryOf(null)]).toEqual([null, null]);
});

describe("10,000 random queries", () => {
  const scalar = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.integer({ min: -3, max: 3 }),
    fc.boolean(),
    fc.constantFrom(noon, earlier, later, "7d", "24h", "vip", "open", "Ann"),
  );
  const attribute = fc.constantFrom(...Object.keys(cases));
  const sound = attribute.chain((name) => {
    const rows = Object.entries(cases[name] ?? {});
    return fc.constantFrom(...rows).map(([operator, row]) => ({ attribute: name, operator, value: row[0] }));
  });
  const wild = fc.record(
    {
      attribute: fc.oneof(attribute, fc.string()),
      operator: fc.oneof(fc.constantFrom(...queryOperators), fc.string()),
      value: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const tree = (leaf: fc.Arbitrary<unknown>) =>
    fc.letrec((tie) => ({
      query: fc.oneof({ depthSize: "small", withCrossShrink: true }, leaf, tie("and"), tie("or"), tie("not")),
      and: fc.record({ and: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
      or: fc.record({ or: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
      not: fc.record({ not: tie("query") }),
    })).query;
  const facts = fc.record(
    {
      name: fc.oneof(scalar, fc.constant(null)),
      score: fc.integer({ min: -3, max: 12 }),
      at: fc.constantFrom(noon, earlier, later, null),
      vip: fc.boolean(),
      tags: fc.subarray(["vip", "new", "old"]),
      status: fc.constantFrom("open", "closed", null),
      metadata: fc.record({ a: fc.record({ b: fc.oneof(scalar, fc.array(scalar), fc.jsonValue()) }) }),
    },
    { requiredKeys: [] },
  );
  const seeded = { seed: 20260310, numRuns: 10_000 };

  test("are read, or refused as the caller's mistake", () => {
    const anything = fc.oneof(tree(fc.oneof(sound, wild)), fc.jsonValue(), fc.anything());
    let read = 0;
    fc.assert(
      fc.property(anything, facts, (query, known) => {
        try {
          const parsed = parseQuery(query, { field: "query", attributes });
          read += 1;
          expect(typeof matchesQuery(parsed, known, now)).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(Failure);
          expect(error).toMatchObject({ status: 400, detail: { param: expect.stringMatching(/^query/) } });
        }
      }),
      seeded,
    );
    expect(read).toBeGreaterThan(1_000);
  });

  test("keep the laws of not, and, or, and of each operator's opposite", () => {
    const small = fc.oneof(sound, fc.record({ and: fc.array(sound, { minLength: 1, maxLength: 3 }) }));
    fc.assert(
      fc.property(small, small, facts, (a, b, known) => {
        const holds = (query: unknown) => find(query, known);
        const [left, right] = [holds(a), holds(b)];
        expect(holds({ not: a })).toBe(!left);
        expect(holds({ not: { not: a } })).toBe(left);
        expect(holds({ and: [a, b] })).toBe(left && right);
        expect(holds({ or: [a, b] })).toBe(left || right);
        expect(holds({ not: { and: [a, b] } })).toBe(holds({ or: [{ not: a }, { not: b }] }));
      }),
      seeded,
    );
    fc.assert(
      fc.property(sound, facts, (condition, known) => {
        const opposite = opposites[condition.operator as keyof typeof opposites];
        const positive = opposite && find({ ...condition, operator: opposite }, known);
        expect(positive === undefined || find(condition, known) === !positive).toBe(true);
      }),
      seeded,
    );
  });
});
