/**
 * Large bodies are read one after the other, in turn for each owner, with the requests of others in between.
 */
import { expect, test } from "vitest";
import { createLargeBodies } from "../src/http/bodies/index.ts";
import { useTestApp } from "./support/app.ts";

const app = useTestApp();

test("one body is read at a time, and the owners take turns", async () => {
  const readLarge = createLargeBodies();
  const order: string[] = [];
  for (const owner of ["a", "a", "a", "b", "c"]) {
    readLarge(owner, () => order.push(owner));
  }
  expect(order).toEqual(["a"]);
  await expect.poll(() => order).toEqual(["a", "a", "b", "c", "a"]);
  readLarge("a", () => order.push("later"));
  await expect.poll(() => order.at(-1)).toBe("later");
});

test("an owner with too many waiting is rejected, and no other", async () => {
  const readLarge = createLargeBodies();
  let count = 0;
  const read = () => {
    count += 1;
  };
  for (let number = 0; number < 33; number += 1) {
    readLarge("a", read);
  }
  expect(() => readLarge("a", read)).toThrow("Too many requests.");
  readLarge("b", read);
  await expect.poll(() => count).toBe(34);
});

test("large bodies sent at once are all answered", async () => {
  const content_base64 = Buffer.from("phone\n".padEnd(60_000, "1")).toString("base64");
  const json = { file_name: "people.csv", content_base64 };
  const send = () => app.fetch("/v1/uploads", { method: "POST", json });
  const answers = await Promise.all(Array.from({ length: 10 }, send));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
});
