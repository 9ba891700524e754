/** Prints the results of commands: for people, or as JSON for scripts. */

/** Prints `data` as JSON if `wantsJson` is true, and otherwise the lines. */
export function print(wantsJson: boolean | undefined, data: unknown, lines: () => readonly string[]): void {
  console.log(wantsJson === true ? JSON.stringify(data, null, 2) : lines().join("\n"));
}

/** Names and values, indented, in two columns. */
export function describeValues(values: Readonly<Record<string, string>>): string[] {
  const width = Math.max(...Object.keys(values).map((name) => name.length)) + 3;
  return Object.entries(values).map(([name, value]) => `  ${name.padEnd(width)}${value}`);
}

/** Rows below their headings, in columns. */
export function describeTable(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
