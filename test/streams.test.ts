/** Streams of bytes: what is read of one that is longer than allowed. */
import { describe, expect, test } from "vitest";
import { collectBytes, limitBytes, readBytes } from "../src/streams/bytes.ts";

async function* letters(...chunks: string[]) {
  for (const chunk of chunks) {
    yield Buffer.from(chunk);
  }
}

describe("a stream", () => {
  const tooLong = () => new Error("too long");

  test("of exactly the limit is complete", async () => {
    expect(await collectBytes(letters("abc", "def"), 6)).toEqual({
      bytes: Buffer.from("abcdef"),
      isCut: false,
    });
    expect((await readBytes(letters("abc", "def"), 6, tooLong)).toString()).toBe("abcdef");
  });

  test("that is longer is cut at the limit", async () => {
    expect(await collectBytes(letters("abc", "def"), 5)).toEqual({
      bytes: Buffer.from("abcde"),
      isCut: true,
    });
  });

  test("that is longer fails before a chunk over the limit", async () => {
    const chunks: string[] = [];
    const read = async () => {
      for await (const chunk of limitBytes(letters("abc", "def"), 5, tooLong)) {
        chunks.push(Buffer.from(chunk).toString());
      }
    };
    await expect(read()).rejects.toThrow("too long");
    expect(chunks).toEqual(["abc"]);
    await expect(readBytes(letters("abc", "def"), 5, tooLong)).rejects.toThrow("too long");
  });
});
