/** Batches that are shared fairly between organizations. */
import { expect, test } from "vitest";
import { FairBatches } from "../src/database/sharing/fair-batches.ts";

/** Batches that end when the test ends them. */
function createBatches(maxSize: number) {
  const running: { readonly items: readonly string[]; end(results?: readonly string[]): void }[] = [];
  const batches = new FairBatches<string, string>(
    (items) =>
      new Promise((resolve) => {
        running.push({ items, end: (results = items) => resolve(results) });
      }),
    maxSize,
  );
  const next = async () => {
    await expect.poll(() => running.length).toBeGreaterThan(0);
    return running.shift();
  };
  return { batches, next, running };
}

test("items that are added in one tick share a batch, later ones wait for the next", async () => {
  const { batches, next, running } = createBatches(10);
  const first = Promise.all([batches.add("a", "1"), batches.add("b", "2")]);
  first.catch(() => undefined);
  const batch = await next();
  expect(batch?.items).toEqual(["1", "2"]);
  const later = Promise.all([batches.add("a", "3"), batches.add("c", "4")]);
  later.catch(() => undefined);
  await new Promise(setImmediate);
  expect(running).toHaveLength(0);
  batch?.end(["one", "two"]);
  expect(await first).toEqual(["one", "two"]);
  const second = await next();
  expect(second?.items).toEqual(["3", "4"]);
  second?.end();
  expect(await later).toEqual(["3", "4"]);
});

test("many items of one organization delay another organization by at most one batch", async () => {
  const { batches, next } = createBatches(4);
  const many = Promise.all(Array.from({ length: 10 }, (_, n) => batches.add("many", `m${n}`)));
  many.catch(() => undefined);
  const first = await next();
  const few = Promise.all(["f0", "f1"].map((item) => batches.add("few", item)));
  few.catch(() => undefined);
  first?.end();
  const second = await next();
  expect(second?.items).toEqual(["m4", "f0", "m5", "f1"]);
  second?.end();
  (await next())?.end();
  expect(await few).toEqual(["f0", "f1"]);
  expect(await many).toHaveLength(10);
});

test("an error of a batch rejects its items alone, and the next batch runs", async () => {
  let runs = 0;
  const batches = new FairBatches<number, number>(async (items) => {
    runs += 1;
    if (items.includes(1)) {
      throw new Error("broken");
    }
    return items.slice(0, items.includes(3) ? 0 : items.length);
  }, 1);
  const settled = await Promise.allSettled([1, 2, 3].map((item) => batches.add("a", item)));
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  expect(settled[2]).toMatchObject({ reason: new Error("A batch of 1 items returned 0 results") });
  expect(runs).toBe(3);
});
