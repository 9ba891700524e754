/** Generates a CSV of contacts: 1 % of the rows are invalid in several ways, 2 % are repeated. */

export interface PeopleCsv {
  /** The file in chunks. */
  readonly chunks: () => Generator<string>;
  /** The result of an import into an empty organization. */
  readonly expected: {
    readonly total: number;
    readonly created: number;
    readonly updated: number;
    readonly rejected: number;
    /** The first line of each rejected row. */
    readonly lines: readonly number[];
    readonly numbers: ReadonlySet<string>;
  };
}

const header = "phone,name,tags,city,note\n";
const firstNames = ["Ada", "Bea", "Carlos", "Dana", "Elif", "Farid", "Grace", "Inés", "José", "Kofi"];
const lastNames = ["García", "Müller", "Silva", "Okafor", "Tanaka", "Ivanova", "Haddad", "Nguyen"];

/** Invalid rows, used in turn. */
const invalidRows: readonly ((row: number) => string)[] = [
  () => "12,No number,,,\n",
  () => ",No phone,,,\n",
  (row) => `${numberOf(row)},${"x".repeat(256)},,,\n`,
  (row) => `${numberOf(row)},Ann,vip,Oslo,a note,and more\n`,
  (row) => `${numberOf(row)},Ann,${"t".repeat(65)},,\n`,
  () => "4.91512E+12,Made by a spreadsheet,,,\n",
  () => '12,"Of two\nlines",,,\n',
];

export function createPeopleCsv(rows: number): PeopleCsv {
  const lines: number[] = [];
  const numbers = new Set<string>();
  let line = 2;
  for (let row = 0; row < rows; row += 1) {
    if (isInvalid(row)) {
      lines.push(line);
    } else {
      numbers.add(numberOf(isRepeated(row) ? row - 1 : row));
    }
    line += writeRow(row).split("\n").length - 1;
  }
  const rejected = lines.length;
  const created = numbers.size;
  return {
    *chunks() {
      yield header;
      for (let row = 0; row < rows; row += 1) {
        yield writeRow(row);
      }
    },
    expected: { total: rows, created, updated: rows - rejected - created, rejected, lines, numbers },
  };
}

function writeRow(row: number): string {
  if (isInvalid(row)) {
    return invalidRows[Math.floor(row / 100) % invalidRows.length]?.(row) ?? "";
  }
  const name = `${firstNames[row % firstNames.length]} ${lastNames[row % lastNames.length]} ${row}`;
  // Some notes have two lines, so that rows and lines differ.
  const note = row % 10 === 0 ? `"asked ""when?""\nand again"` : "=1+1";
  return `${numberOf(isRepeated(row) ? row - 1 : row)},${name},${row % 10 === 3 ? "vip;new" : ""},Oslo,${note}\n`;
}

const isInvalid = (row: number) => row % 100 === 57;
const isRepeated = (row: number) => row % 50 === 31;
const numberOf = (row: number) => `+1415${5_000_000 + row}`;
