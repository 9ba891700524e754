/** Scope rules: one scope, any of several, all of several, or none. */
import { expect, test } from "vitest";
import { describeRule, permits, type Scope, type ScopeRule } from "../tools/contract/index.ts";

const either: ScopeRule = { any: ["inbox:read", "contacts:read"] };
const both: ScopeRule = { all: ["inbox:read", "contacts:read"] };

test.each<[ScopeRule | null, Scope[], boolean]>([
  [null, [], true],
  ["inbox:read", ["inbox:read"], true],
  ["inbox:read", ["inbox:write"], false],
  [either, ["contacts:read"], true],
  [either, ["contacts:write"], false],
  [both, ["contacts:read"], false],
  [both, ["contacts:read", "inbox:read"], true],
])("rule %j with scopes %j: %s", (rule, scopes, isPermitted) => {
  expect(permits(new Set(scopes), rule)).toBe(isPermitted);
});

test("a rule is described in words", () => {
  expect(describeRule("inbox:read")).toBe("inbox:read");
  expect(describeRule(either)).toBe("one of inbox:read, contacts:read");
  expect(describeRule(both)).toBe("inbox:read and contacts:read");
});
