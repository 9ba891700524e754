/**
 * Writes CSV (RFC 4180) that is safe to open in a spreadsheet: a cell that the spreadsheet would read as a
 * formula gets a leading apostrophe.
 *
 * A phone number keeps its plus sign and gets no apostrophe: digits alone compute nothing, and programs that
 * read the file need the number.
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
