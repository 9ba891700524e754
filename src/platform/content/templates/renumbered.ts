/**
 * Finds out which placeholder of a changed text is which of the earlier one, so that variables keep their names.
 *
 * The words next to a placeholder tell, because a change may renumber it: the more of them are the same, the better. Where
 * no word tells, it is the one of the same number, unless placeholders were removed: then it may be another one.
 */
import { numbersIn, splitAtPlaceholders } from "./placeholders.ts";

/** By the place among the numbers of `text`: the place among those of `earlier`; undefined for a new placeholder. */
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

/** A number of the text, and the one of the earlier text that it may be. */
interface Pair {
  readonly to: number;
  readonly from: number;
}

/** Those with a common word, the best first; of equal ones, those with the same number first. */
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

/** How many words are equal from the beginning on. */
function countCommon(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((word, index) => word !== other[index]);
  return end === -1 ? one.length : end;
}
