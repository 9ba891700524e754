/** Warns about misspelt settings, which would otherwise be ignored silently. */

/** One warning for each unknown name, with the nearest known one. */
export function warnAboutUnknown(names: readonly string[], known: readonly string[]): string[] {
  const isOurs = (name: string) => name.startsWith("TIDINGS_") && !name.startsWith("TIDINGS_TEST_");
  return names
    .filter((name) => isOurs(name) && !known.includes(name))
    .map((name) => `Unknown setting ${name}; the nearest is ${nearest(name, known)}.`);
}

function nearest(name: string, known: readonly string[]): string | undefined {
  return known.toSorted((a, b) => distance(name, a) - distance(name, b))[0];
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
