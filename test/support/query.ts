/** The attributes and cases of the query tests, and shortcuts to match and to reject a query. */
import type { Facts } from "../../src/platform/foundation/query/facts.ts";
import { matchesQuery } from "../../src/platform/foundation/query/matches.ts";
import { parseQuery } from "../../src/platform/foundation/query/parse.ts";
import type { Attributes } from "../../src/platform/foundation/query/query.ts";
import type { QueryOperator } from "../../tools/cohorts/index.ts";
import { Failure } from "../../tools/contract/index.ts";

export const now = new Date("2026-03-10T12:00:00Z");
export const noon = "2026-03-01T12:00:00Z";
export const earlier = "2026-02-01T00:00:00Z";
export const later = "2026-03-09T12:00:00Z";

/** One attribute of each type. */
export const attributes = {
  name: { type: "text" },
  score: { type: "number" },
  at: { type: "date" },
  vip: { type: "boolean" },
  tags: { type: "tags" },
  status: { type: "enum", values: ["open", "closed"] },
  "metadata.<path>": { type: "any" },
} as const satisfies Attributes;

export const matches = (query: unknown, facts: Facts) =>
  matchesQuery(parseQuery(query, { field: "query", attributes }), facts, now);

export function parseFailure(query: unknown, known: Attributes = attributes): Failure {
  try {
    parseQuery(query, { field: "query", attributes: known });
  } catch (error) {
    if (error instanceof Failure) {
      return error;
    }
    throw error;
  }
  throw new Error("the query was not rejected");
}

/** The negative operators, each with the operator that it negates. */
export const opposites = {
  neq: "eq",
  not_contains: "contains",
  not_in: "in",
  not_exists: "exists",
  not_within_last: "within_last",
} as const satisfies { [Operator in QueryOperator]?: QueryOperator };
export const negativeOperators: readonly QueryOperator[] = Object.keys(
  opposites,
) as (keyof typeof opposites)[];

export type Case = readonly [value: unknown, hits: readonly unknown[], misses: readonly unknown[]];

/** For each attribute, a case for each operator of its type. */
export const cases: Readonly<Record<string, { readonly [Operator in QueryOperator]?: Case }>> = {
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
