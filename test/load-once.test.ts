/** Values that are loaded at their first use. */
import { expect, test } from "vitest";
import { loadOnce } from "../src/adapters/load-once.ts";

test("a value is loaded once for all callers, and again after a failure", async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    if (loads === 1) {
      throw new Error("too many open files");
    }
    return loads;
  });
  const failed = await Promise.allSettled([load(), load()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
