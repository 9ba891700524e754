/** The lists of the files that run on the embedded database where PostgreSQL is present. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { embeddedOnly, engineDependent } from "./support/engine-dependent.ts";

test("the lists name each file once, and no absent file", () => {
  const listed = [...embeddedOnly, ...engineDependent];
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((path) => !existsSync(path))).toEqual([]);
});
