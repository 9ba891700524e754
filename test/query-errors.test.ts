/** The query language: an invalid query is rejected with its place and what to send instead. */
import { describe, expect, test } from "vitest";
import type { QueryOperator } from "../tools/cohorts/index.ts";
import { matches, noon, parseFailure } from "./support/query.ts";

describe("an invalid query is rejected with its place", () => {
  const ok = { attribute: "vip", operator: "exists" };
  const nested = (levels: number): unknown => (levels === 0 ? ok : { not: nested(levels - 1) });
  const value = (attribute: string, operator: QueryOperator, operand?: unknown) => ({
    attribute,
    operator,
    value: operand,
  });
  const long = value("score", "in", Array(501).fill(1));

  test("an unknown attribute is answered with the nearest one", () => {
    expect(parseFailure({ ...ok, attribute: "tag" }).detail.suggestions).toEqual(["tags"]);
    expect(parseFailure({ ...ok, attribute: "constructor" }).detail).not.toHaveProperty("suggestions");
  });

  test.each<[query: unknown, code: string, param: string, text: string]>([
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
  ])("%j", (query, code, param, text) => {
    const failure = parseFailure(query);
    expect(failure).toMatchObject({ status: 400, code, detail: { param } });
    const { message, fix } = failure.body().error;
    expect(`${message} ${fix}`).toContain(text);
    expect(`${message} ${fix}`).not.toMatch(/\{\w+\}/);
  });

  test("a query just within the limits is accepted", () => {
    expect(matches(nested(5), { vip: true })).toBe(false);
    expect(matches({ and: Array(50).fill(ok) }, { vip: true })).toBe(true);
    const half = value("score", "in", Array(500).fill(1));
    expect(matches({ or: [half, half] }, { score: 1 })).toBe(true);
  });
});
