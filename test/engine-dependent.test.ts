/** The lists of the files that run on PostgreSQL. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { engineDependent, fasterOnPostgres } from "./support/engine-dependent.ts";

test("the lists name each file once, and no absent file", () => {
  const listed = [...engineDependent, ...fasterOnPostgres];
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((path) => !existsSync(path))).toEqual([]);
});
