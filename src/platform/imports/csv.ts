/** Reads CSV as it comes from the store: the delimiter from the first line, the columns from their names. */
import { type CsvError, type Parser, parse } from "csv-parse";

/** A quotation mark that is never closed would swallow the rest of the file. */
const maxRecordBytes = 128 * 1024;

/** Enough for any header. */
const headBytes = 64 * 1024;

export interface CsvRow {
  /** In the file, from 1: the row's last line. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The file can't be read on from some line. */
export class CsvBroken extends Error {
  override readonly name = "CsvBroken";
}

/** Every row, the header first. @throws CsvBroken */
export async function* readCsv(body: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const source = body[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < headBytes && !head.includes("\n")) {
    const { done, value } = await source.next();
    if (done) {
      break;
    }
    head = Buffer.concat([head, value]);
  }
  const parser = parse({
    bom: true,
    delimiter: detectDelimiter(head),
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: maxRecordBytes,
  });
  const feeding = feed(parser, head, source);
  try {
    for await (const { info, record } of parser as AsyncIterable<Parsed>) {
      yield { line: info.lines, cells: record };
    }
  } catch (error) {
    throw isOfCsv(error) ? new CsvBroken(explain(error), { cause: error }) : error;
  } finally {
    parser.destroy();
    await feeding;
  }
}

/** A record as the parser gives it with `info`. */
interface Parsed {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

/** Hands the file over as fast as it is read, until either ends. */
async function feed(parser: Parser, head: Buffer, source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    parser.write(head);
    for (;;) {
      const { done, value } = await source.next();
      if (done || parser.destroyed) {
        break;
      }
      if (!parser.write(value)) {
        await new Promise<void>((resolve) => {
          parser.once("drain", resolve);
          parser.once("close", resolve);
        });
      }
    }
    parser.end();
  } catch (error) {
    parser.destroy(error as Error);
  } finally {
    await source.return?.();
  }
}

/** Whichever of them is most often in the first line, outside quotation marks. */
function detectDelimiter(head: Buffer): string {
  const [line = ""] = head
    .toString("utf8")
    .replace(/"[^"]*"/g, "")
    .split(/\r?\n/);
  const counts = [",", ";", "\t"].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

function isOfCsv(error: unknown): error is CsvError {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith("CSV_");
}

function explain({ code, lines }: CsvError & { lines?: number }): string {
  const what =
    code === "CSV_MAX_RECORD_SIZE" || code === "CSV_QUOTE_NOT_CLOSED"
      ? "a quotation mark is not closed, or the row is longer than 128 kB"
      : "it is no CSV";
  return `The file can't be read from line ${lines ?? 1} on: ${what}.`;
}
