/** Reads CSV as it comes from the store: rows of cells, the delimiter from the first line. */
import { type CsvError, parse } from "csv-parse";

/** A quotation mark that is never closed would swallow the rest of the file. */
const maxRecordBytes = 128 * 1024;

/** Enough for any header. */
const headBytes = 64 * 1024;

/** Of a row that is not as long as the first the parser makes an error, at 24 µs: so much at a time holds nobody up. */
const pieceBytes = 4 * 1024;

/** Nothing counts them but this. */
const maxEmptyRows = 100_000;

export interface CsvRow {
  /** In the file, from 1: where the row begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The file can't be read, or not on from some line: why, and what to do about it. */
export class UnreadableFileError extends Error {
  override readonly name = "Unreadable";
}

/** Every row with something in it, the header first. @throws Unreadable, after the rows before it */
export async function* readCsv(body: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const pieces = normalizeLineEndings(body);
  try {
    const head = await readHead(pieces);
    const read = createReader(head);
    yield* read(head);
    for await (const piece of pieces) {
      yield* read(piece);
    }
    yield* read(undefined);
  } finally {
    await pieces.return(undefined);
  }
}

async function readHead(pieces: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < headBytes && !head.includes("\n")) {
    const { done, value } = await pieces.next();
    if (done) {
      break;
    }
    head = Buffer.concat([head, value]);
  }
  return head;
}

/**
 * Reads the rows that end in a piece; undefined is the end of the file. They are not taken from the parser as
 * a stream: that throws away those which nobody has taken yet when it comes to one that it can't read.
 */
function createReader(head: Buffer) {
  const declared = declaredDelimiter(head);
  const rows: CsvRow[] = [];
  let nextLine = 1;
  let bytes = 0;
  let emptyRows = 0;
  const parser = parse({
    bom: true,
    delimiter: declared ?? detectDelimiter(head),
    from_line: declared === undefined ? 1 : 2,
    record_delimiter: "\n",
    relax_column_count: true,
    relax_quotes: true,
    trim: true,
    max_record_size: maxRecordBytes,
    on_record(cells: readonly string[], { lines }) {
      // A spreadsheet may write delimiters alone under its last row.
      if (cells.some((cell) => cell !== "")) {
        rows.push({ line: lines - countLineBreaks(cells), cells });
      } else {
        emptyRows += 1;
      }
      nextLine = lines + 1;
      bytes = 0;
      return null;
    },
  });
  // It is told to whoever wrote, too.
  parser.on("error", () => undefined);
  return async function* read(piece: Buffer | undefined): AsyncGenerator<CsvRow> {
    bytes += piece?.length ?? 0;
    const error = await new Promise<unknown>((resolve) => {
      // Others have their turn after each piece: the parser alone would go on as long as there are any.
      const told = (error: unknown) => setImmediate(resolve, error);
      piece ? parser.write(piece, told) : parser.end(told);
    });
    yield* rows.splice(0);
    if (error) {
      throw isCsvError(error)
        ? new UnreadableFileError(explain(error.code, nextLine), { cause: error })
        : error;
    }
    // The parser's own limit leaves out the delimiters, between which millions of empty cells may be.
    if (bytes > 2 * maxRecordBytes) {
      throw new UnreadableFileError(explain("CSV_MAX_RECORD_SIZE", nextLine));
    }
    if (emptyRows > maxEmptyRows) {
      throw new UnreadableFileError(explain("EMPTY_ROWS", nextLine));
    }
  };
}

/** In small pieces, with LF after every line where CRLF, CR or a mixture stood: the parser would choose one and count the others twice. */
async function* normalizeLineEndings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let endedInCr = false;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const rest = endedInCr && bytes[0] === lf ? bytes.subarray(1) : bytes;
    endedInCr = bytes.at(-1) === cr;
    const text = rest.includes(cr)
      ? Buffer.from(rest.toString("latin1").replace(/\r\n?/g, "\n"), "latin1")
      : rest;
    for (let at = 0; at < text.length; at += pieceBytes) {
      yield text.subarray(at, at + pieceBytes);
    }
  }
}

const cr = 0x0d;
const lf = 0x0a;

function countLineBreaks(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
}

/** As Excel is told, and tells, in a line before the header: sep=; */
function declaredDelimiter(head: Buffer): string | undefined {
  return /^\ufeff?"?sep=([,;\t|])"?\n/i.exec(head.toString("utf8"))?.[1];
}

/** Whichever of them is most often in the first line, outside quotation marks. */
function detectDelimiter(head: Buffer): string {
  const [line = ""] = head
    .toString("utf8")
    .replace(/"[^"]*"/g, "")
    .split("\n");
  const counts = [",", ";", "\t"].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith("CSV_");
}

function explain(code: string, line: number): string {
  const what = reasons[code] ?? "it is no CSV";
  return `The file can't be read from line ${line} on: ${what}. What stands before it was imported; correct it, and import the file again.`;
}

const unclosedQuote = "a quotation mark is not closed, or the row is longer than 128 kB";

const reasons: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: unclosedQuote,
  CSV_QUOTE_NOT_CLOSED: unclosedQuote,
  EMPTY_ROWS: `more than ${maxEmptyRows} rows are empty`,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE:
    'a cell goes on behind its closing quotation mark (one inside a cell is doubled: "")',
};
