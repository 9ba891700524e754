/** The query language under random queries: parsed or rejected, and consistent with logic. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesQuery } from "../src/platform/foundation/query/matches.ts";
import { parseQuery } from "../src/platform/foundation/query/parse.ts";
import { queryOperators } from "../tools/cohorts/index.ts";
import { Failure } from "../tools/contract/index.ts";
import { iterations } from "./support/iterations.ts";
import { attributes, cases, earlier, later, matches, noon, now, opposites } from "./support/query.ts";

describe("10,000 random queries", () => {
  const scalar = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.integer({ min: -3, max: 3 }),
    fc.boolean(),
    fc.constantFrom(noon, earlier, later, "7d", "24h", "vip", "open", "Ann"),
  );
  const attribute = fc.constantFrom(...Object.keys(cases));
  const valid = attribute.chain((name) => {
    const rows = Object.entries(cases[name] ?? {});
    return fc.constantFrom(...rows).map(([operator, row]) => ({ attribute: name, operator, value: row[0] }));
  });
  const arbitrary = fc.record(
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
  const seeded = { seed: 20260310, numRuns: iterations(1_000, 10_000) };

  test("are parsed, or rejected as an invalid request", () => {
    const anything = fc.oneof(tree(fc.oneof(valid, arbitrary)), fc.jsonValue(), fc.anything());
    let parsedCount = 0;
    fc.assert(
      fc.property(anything, facts, (query, known) => {
        try {
          const parsed = parseQuery(query, { field: "query", attributes });
          parsedCount += 1;
          expect(typeof matchesQuery(parsed, known, now)).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(Failure);
          expect(error).toMatchObject({ status: 400, detail: { param: expect.stringMatching(/^query/) } });
        }
      }),
      seeded,
    );
    expect(parsedCount).toBeGreaterThan(seeded.numRuns / 10);
  });

  test("obey the laws of not, and, or, and of each operator's opposite", () => {
    const small = fc.oneof(valid, fc.record({ and: fc.array(valid, { minLength: 1, maxLength: 3 }) }));
    fc.assert(
      fc.property(small, small, facts, (a, b, known) => {
        const holds = (query: unknown) => matches(query, known);
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
      fc.property(valid, facts, (condition, known) => {
        const opposite = opposites[condition.operator as keyof typeof opposites];
        const positive = opposite && matches({ ...condition, operator: opposite }, known);
        expect(positive === undefined || matches(condition, known) === !positive).toBe(true);
      }),
      seeded,
    );
  });
});
