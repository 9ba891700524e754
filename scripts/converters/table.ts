/** The table of the results: a row for each tool, a column for each client. */
import type { Results } from "./clients/client.ts";

/** @returns the number of failures. */
export function printTable(results: Results): number {
  const clients = Object.keys(results);
  const names = Object.keys(results[clients[0] ?? ""] ?? {});
  const width = Math.max(...names.map((name) => name.length));
  const cell = (text: string, column: string) => text.padEnd(column.length);
  const header = ["".padEnd(width), ...clients].join("  ");
  const notes: string[] = [];
  const failures: string[] = [];
  const rows = names.map((name) => {
    const cells = clients.map((client) => {
      const { problem, note } = results[client]?.[name] ?? { problem: "not run" };
      if (problem !== undefined) {
        failures.push(`${name}, ${client}: ${problem}`);
        return cell("FAILS", client);
      }
      return cell(note === undefined ? "passes" : `passes ${numberOf(notes, note)}`, client);
    });
    return [name.padEnd(width), ...cells].join("  ");
  });
  console.log([header, ...rows].join("\n"));
  for (const [index, note] of notes.entries()) {
    console.log(`\n${index + 1}: ${note}`);
  }
  const passed = names.length * clients.length - failures.length;
  console.log(["", ...failures, `${passed} passed, ${failures.length} failed`].join("\n"));
  return failures.length;
}

function numberOf(notes: string[], note: string): number {
  return notes.includes(note) ? notes.indexOf(note) + 1 : notes.push(note);
}
