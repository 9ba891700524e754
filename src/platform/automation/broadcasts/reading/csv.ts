/**
 * Writes CSV (RFC 4180) that a spreadsheet may open: a cell that it would read as a formula gets a leading apostrophe.
 *
 * A phone number keeps its plus sign: digits alone compute nothing, and a program that reads the file needs the number.
 */

/** The characters with which a formula begins (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r]/;
const phoneNumber = /^\+\d{1,15}$/;
const quoted = /[",\r\n]|^\s|\s$/;

/** One row with its line break. */
export function toCsvRow(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => toCell(cell ?? "")).join(",")}\r\n`;
}

function toCell(text: string): string {
  const inert = formula.test(text) && !phoneNumber.test(text) ? `'${text}` : text;
  return quoted.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
