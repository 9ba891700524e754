/** Parses CSV while it is streamed from the store; detects the delimiter in the first line. */
import { type CsvError, type Parser, parse } from "csv-parse";

/** Without a limit, a quotation mark that is never closed would read the rest of the file into memory. */
const maxRecordBytes = 128 * 1024;

/** Enough bytes for any header. */
const headBytes = 64 * 1024;

/**
 * The parser creates an error for each row of another length than the first, which takes 24 µs: small pieces
 * keep the event loop responsive.
 */
const pieceBytes = 4 * 1024;

/** More than any table of contacts has, and few enough to compare each title with all other titles. */
export const maxColumns = 200;

/** Empty rows have a limit of their own, because they count towards no other limit. */
const maxEmptyRows = 100_000;

export interface CsvRow {
  /** The line in the file at which the row begins, from 1. */
  readonly line: number;
  /** At most one cell more than `maxColumns`: a row of delimiters alone could have a hundred thousand. */
  readonly cells: readonly string[];
}

/** The file can't be read, or can't be read further. The message is for the user; see `explainFileError`. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

/**
 * Yields all rows that are not empty, the header first.
 * @throws UnreadableFileError after the rows before the error.
 */
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
 * Returns a function that yields the rows that end in a piece; undefined marks the end of the file. The
 * parser is not read as a stream, because on an error a stream discards the rows that have not been consumed.
 */
function createReader(head: Buffer) {
  const rows: CsvRow[] = [];
  let nextLine = 1;
  let bytes = 0;
  let emptyRows = 0;
  const parser = createParser(head, (cells, lastLine) => {
    // Some spreadsheets write rows of delimiters below the last row.
    if (cells.some((cell) => cell !== "")) {
      rows.push({ line: lastLine - countLineBreaks(cells), cells: cells.slice(0, maxColumns + 1) });
    } else {
      emptyRows += 1;
    }
    nextLine = lastLine + 1;
    bytes = 0;
  });
  return async function* read(piece: Buffer | undefined): AsyncGenerator<CsvRow> {
    bytes += piece?.length ?? 0;
    const error = await parsePiece(parser, piece);
    yield* rows.splice(0);
    if (error) {
      throw isCsvError(error)
        ? new UnreadableFileError(explain(error.code, nextLine), { cause: error })
        : error;
    }
    // The parser's limit does not count delimiters, so a row could have millions of empty cells.
    if (bytes > 2 * maxRecordBytes) {
      throw new UnreadableFileError(explain("CSV_MAX_RECORD_SIZE", nextLine));
    }
    if (emptyRows > maxEmptyRows) {
      throw new UnreadableFileError(explain("EMPTY_ROWS", nextLine));
    }
  };
}

/** `onRow` is called with the cells of each row and the number of its last line. */
function createParser(head: Buffer, onRow: (cells: readonly string[], lastLine: number) => void): Parser {
  const declared = declaredDelimiter(head);
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
      onRow(cells, lines);
      return null;
    },
  });
  // Errors are handled in the callback of `write`; without a listener they would end the process.
  parser.on("error", () => undefined);
  return parser;
}

/** Resolves to the parser's error, if there is one. */
function parsePiece(parser: Parser, piece: Buffer | undefined): Promise<unknown> {
  return new Promise((resolve) => {
    // Yields to the event loop after each piece; the parser alone would never do so.
    const callback = (error: unknown) => setImmediate(resolve, error);
    piece ? parser.write(piece, callback) : parser.end(callback);
  });
}

/**
 * Yields small pieces with LF after every line. With CRLF, CR or a mixture, the parser would choose one and
 * count the others twice.
 */
async function* normalizeLineEndings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let endedInCr = false;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const withoutLf = endedInCr && bytes[0] === lf ? bytes.subarray(1) : bytes;
    endedInCr = bytes.at(-1) === cr;
    const text = withoutLf.includes(cr)
      ? Buffer.from(withoutLf.toString("latin1").replace(/\r\n?/g, "\n"), "latin1")
      : withoutLf;
    for (let start = 0; start < text.length; start += pieceBytes) {
      yield text.subarray(start, start + pieceBytes);
    }
  }
}

const cr = 0x0d;
const lf = 0x0a;

function countLineBreaks(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
}

/** The delimiter of a first line `sep=;`, which Excel reads and writes before the header. */
function declaredDelimiter(head: Buffer): string | undefined {
  return /^\ufeff?"?sep=([,;\t|])"?\n/i.exec(head.toString("utf8"))?.[1];
}

/** The most frequent delimiter in the first line, outside quotation marks. */
function detectDelimiter(head: Buffer): string {
  const [line = ""] = head
    .toString("utf8")
    .replace(/"[^"]*"/g, "")
    .split("\n");
  const counts = [",", ";", "\t"].map((delimiter) => ({ delimiter, count: line.split(delimiter).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).delimiter;
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("CSV_");
}

function explain(code: string, line: number): string {
  const reason = reasons[code] ?? "it is not CSV";
  return `The file can't be read from line ${line} on: ${reason}. The rows before were read. Correct the file from there on.`;
}

const unclosedQuote = "a quotation mark is not closed, or the row is longer than 128 kB";

const reasons: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: unclosedQuote,
  CSV_QUOTE_NOT_CLOSED: unclosedQuote,
  EMPTY_ROWS: `more than ${maxEmptyRows} rows are empty`,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE:
    'a cell continues after its closing quotation mark (a quotation mark inside a cell must be doubled: "")',
};
