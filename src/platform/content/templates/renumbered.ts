/**
 * Matches the placeholders of a changed text with the placeholders of the earlier text, so that variables
 * keep their names.
 *
 * A change may renumber a placeholder, so placeholders are matched by the words next to them: the more words
 * are equal, the better. If no words are equal, the placeholder with the same number matches, unless
 * placeholders were removed, because then the number may belong to another placeholder.
 */
import { numbersIn, splitAtPlaceholders } from "./placeholders.ts";

/**
 * For each number of `text`, in order: the index of the matching number in `earlier`; undefined for a new
 * placeholder.
 */
export function matchPlaceholders(text: string, earlier: string): readonly (number | undefined)[] {
  const [numbers, earlierNumbers] = [numbersIn(text), numbersIn(earlier)];
  const found = new Map<number, number>();
  const isFree = ({ to, from }: Pair) => !found.has(to) && ![...found.values()].includes(from);
  for (const pair of rankPairs(text, earlier)) {
    if (isFree(pair)) {
      found.set(pair.to, pair.from);
    }
  }
  const unmatched = earlierNumbers.filter((from) => ![...found.values()].includes(from));
  const hasSameCount = numbers.length === earlierNumbers.length;
  for (const to of numbers.filter((one) => !found.has(one) && numbers.length >= earlierNumbers.length)) {
    const from = unmatched.includes(to) ? to : hasSameCount ? unmatched[0] : undefined;
    if (from !== undefined) {
      found.set(to, from);
      unmatched.splice(unmatched.indexOf(from), 1);
    }
  }
  return numbers.map((to) => {
    const from = found.get(to);
    return from === undefined ? undefined : earlierNumbers.indexOf(from);
  });
}

/** A number in the text, and a number in the earlier text that may be the same placeholder. */
interface Pair {
  readonly to: number;
  readonly from: number;
}

/** The pairs with a common word, best first; among equal pairs, a pair with the same number first. */
function rankPairs(text: string, earlier: string): readonly Pair[] {
  const pairs = splitAtPlaceholders(text).flatMap((one) =>
    splitAtPlaceholders(earlier).map((other) => ({
      to: one.number,
      from: other.number,
      count:
        countCommon([...wordsOf(one.before)].reverse(), [...wordsOf(other.before)].reverse()) +
        countCommon(wordsOf(one.after), wordsOf(other.after)),
    })),
  );
  return pairs
    .filter(({ count }) => count > 0)
    .sort(
      (one, other) =>
        other.count - one.count || Number(other.to === other.from) - Number(one.to === one.from),
    );
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** How many words at the beginning are equal. */
function countCommon(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((word, index) => word !== other[index]);
  return end === -1 ? one.length : end;
}
