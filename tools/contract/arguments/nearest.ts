/** Finds the known name that a misspelt one resembles. */

/** Longer names are not compared: the time grows with the product of the lengths. */
const maxLength = 64;

/** The known name with the fewest different letters; undefined if more than a third of the letters differ. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) {
    return undefined;
  }
  const [best] = known
    .map((candidate) => ({ candidate, differences: distance(name, candidate) }))
    .sort((a, b) => a.differences - b.differences);
  return best && best.differences <= Math.ceil(best.candidate.length / 3) ? best.candidate : undefined;
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
