/** Finds the name that was probably meant by a misspelt name. */

/** Longer names are not compared: the time grows with the product of the lengths. */
const maxLength = 64;

/** The known name that is nearest to an unknown name; undefined if no name is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) {
    return undefined;
  }
  const most = Math.ceil(name.length / 3);
  return known
    .flatMap((candidate) => {
      const limit = hasWordsOf(name, candidate) ? Number.POSITIVE_INFINITY : most;
      const errors = distance(name, candidate, limit);
      return errors <= limit ? [{ candidate, errors }] : [];
    })
    .sort((one, other) => one.errors - other.errors)[0]?.candidate;
}

/** Whether the name contains every word of the candidate, in any order and among other words. */
function hasWordsOf(name: string, candidate: string): boolean {
  const words = name.split("_");
  return candidate.split("_").every((word) => words.includes(word));
}

/** Levenshtein distance; infinite as soon as it exceeds the limit, because a graph has hundreds of names. */
function distance(from: string, to: string, limit: number): number {
  const [rows, columns] = [[...from], [...to]];
  if (Math.abs(rows.length - columns.length) > limit) {
    return Number.POSITIVE_INFINITY;
  }
  let row = columns.map((_, index) => index + 1);
  for (let line = 0; line < rows.length; line += 1) {
    let [diagonal, left] = [line, line + 1];
    let smallest = left;
    const next: number[] = [];
    for (let index = 0; index < columns.length; index += 1) {
      const above = row[index] ?? 0;
      left = Math.min(diagonal + (rows[line] === columns[index] ? 0 : 1), above + 1, left + 1);
      diagonal = above;
      smallest = Math.min(smallest, left);
      next.push(left);
    }
    if (smallest > limit) {
      return Number.POSITIVE_INFINITY;
    }
    row = next;
  }
  return row.at(-1) ?? rows.length;
}
