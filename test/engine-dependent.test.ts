/** The list of the files that run on both engines. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { engineDependent } from "./support/engine-dependent.ts";

test("the list of engine-dependent files names each once, and no absent file", () => {
  expect(new Set(engineDependent).size).toBe(engineDependent.length);
  expect(engineDependent.filter((path) => !existsSync(path))).toEqual([]);
});
