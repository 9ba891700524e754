/** Finds the name that a misspelt one was probably meant to be. */

/** Longer names are not compared: the time grows with the product of the lengths. */
const maxLength = 64;

/** The known name that is nearest to an unknown one; undefined if none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) {
    return undefined;
  }
  return known
    .map((candidate) => ({ candidate, errors: distance(name, candidate) }))
    .filter(({ candidate, errors }) => errors <= Math.ceil(name.length / 3) || hasWordsOf(name, candidate))
    .sort((one, other) => one.errors - other.errors)[0]?.candidate;
}

/** Whether the name has every word of the candidate, in any order and beside others. */
function hasWordsOf(name: string, candidate: string): boolean {
  const words = name.split("_");
  return candidate.split("_").every((word) => words.includes(word));
}

/** Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const above = row;
    row = [line + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (above[index] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[index + 1] ?? 0) + 1, (row[index] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
