/** Accents in comparisons: a text with very many on one letter is compared by the first 30. */
import { expect, test } from "vitest";
import { normalizeText, removeAccents } from "../src/platform/foundation/query/index.ts";

test("at most 30 accents of a letter are compared, because more take quadratic time", () => {
  const [above, below] = ["\u0301".repeat(30), "\u0316".repeat(30)];
  expect(normalizeText(`Z${above}${below}x`)).toBe(`\u017a${"\u0301".repeat(29)}x`);
  // Thai signs of vowels, which belong to their letters.
  expect(removeAccents(`É${"\u0e34".repeat(40)}`)).toBe(`e${"\u0e34".repeat(30)}`);
});
