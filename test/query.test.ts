/** The query language: what each operator matches in each type of attribute. */
import { describe, expect, test } from "vitest";
import { countryOf } from "../src/platform/account/phone/index.ts";
import { contactAttributes, conversationAttributes } from "../src/platform/foundation/query/attributes.ts";
import type { Facts } from "../src/platform/foundation/query/facts.ts";
import { matchesQuery } from "../src/platform/foundation/query/matches.ts";
import { operatorsOf } from "../src/platform/foundation/query/operands.ts";
import { parseQuery } from "../src/platform/foundation/query/parse.ts";
import type { ValueType } from "../src/platform/foundation/query/query.ts";
import { type QueryOperator, queryOperators } from "../tools/cohorts/index.ts";
import {
  attributes,
  type Case,
  cases,
  earlier,
  matches,
  negativeOperators,
  noon,
  now,
  parseFailure,
} from "./support/query.ts";

const typesByPath: Readonly<Record<string, ValueType>> = { "metadata.a.b": "any" };
const typeOf = (attribute: string): ValueType =>
  typesByPath[attribute] ?? attributes[attribute as keyof typeof attributes].type;
const factsOf = (attribute: string, fact: unknown): Facts =>
  attribute === "metadata.a.b" ? { metadata: { a: { b: fact } } } : { [attribute]: fact };

describe.each(Object.entries(cases))("%s", (attribute, casesByOperator) => {
  test("has a case for every operator of its type", () => {
    expect(Object.keys(casesByOperator).sort()).toEqual([...operatorsOf(typeOf(attribute))].sort());
  });

  const rows = Object.entries(casesByOperator) as [QueryOperator, Case][];
  test.each(rows)("%s matches the hits and no misses", (operator, [value, hits, misses]) => {
    const isMatch = (fact: unknown) => matches({ attribute, operator, value }, factsOf(attribute, fact));
    expect(hits.filter((fact) => !isMatch(fact))).toEqual([]);
    expect(misses.filter(isMatch)).toEqual([]);
  });

  test.each(rows)("%s matches a missing value only if it is negative", (operator, [value]) => {
    const query = { attribute, operator, value };
    const missing = [{}, factsOf(attribute, null), factsOf(attribute, undefined), { get: () => undefined }];
    expect(missing.map((facts) => matches(query, facts))).toEqual(
      missing.map(() => negativeOperators.includes(operator)),
    );
  });

  const others = queryOperators.filter((operator) => !(operator in casesByOperator));
  test.each(others)("%s is rejected with the applicable operators", (operator) => {
    const failure = parseFailure({ and: [{ attribute, operator, value: "x" }] });
    expect(failure).toMatchObject({ status: 400, code: "operator_not_applicable" });
    expect(failure.detail.param).toBe("query.and[0].operator");
    expect(failure.body().error.fix).toBe(`Use one of: ${operatorsOf(typeOf(attribute)).join(", ")}.`);
  });
});

test("an empty query matches everything", () => {
  expect(matches({}, {})).toBe(true);
});

test("facts can be a map, or have dotted or nested names", () => {
  const query = { attribute: "metadata.plan", operator: "eq", value: "pro" };
  const known: readonly Facts[] = [
    new Map([["metadata.plan", "Pro"]]),
    { "metadata.plan": "Pro" },
    { metadata: { plan: "Pro" } },
  ];
  expect(known.map((facts) => matches(query, facts))).toEqual([true, true, true]);
  expect(matches({ attribute: "metadata.constructor.name", operator: "exists" }, { metadata: {} })).toBe(
    false,
  );
});

test("a conversation's query covers its contact, itself and the latest message", () => {
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

test("a country is given by its code, and a number without a country has none", () => {
  const failure = parseFailure({ attribute: "country", operator: "eq", value: "Germany" }, contactAttributes);
  expect(failure.body().error.fix).toBe("Send a two-letter country code (ISO 3166), for example DE.");
  expect([countryOf("+80012345678"), countryOf(null)]).toEqual([null, null]);
});

test.each<QueryOperator>(["in", "not_in"])("%s converts each element of a long list once", (operator) => {
  let conversions = 0;
  class CountedDate extends Date {
    override getTime(): number {
      conversions += 1;
      return super.getTime();
    }
  }
  const times = Array.from({ length: 500 }, (_, index) => new Date(Date.parse(noon) + index).toISOString());
  const facts = { at: times.map(() => new CountedDate(earlier)) };
  const isMatch = matches({ attribute: "at", operator, value: times }, facts);
  expect(isMatch).toBe(operator === "not_in");
  expect(conversions).toBe(500);
});
