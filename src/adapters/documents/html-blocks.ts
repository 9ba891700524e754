/** Collects the blocks of an HTML page while its elements open and close. */
import type { DocumentBlock } from "../../ports/files/document-reader.ts";

const words = (text: string) => new Set(text.split(" "));

/** Elements that end a paragraph when they open and when they close. */
const blockElements = words(
  "address article blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol optgroup option p pre section summary table tbody td tfoot th thead tr ul caption",
);

/** Marks a `br` until the spaces of the source are removed. */
const lineBreak = "\u2028";

interface OpenTable {
  readonly rows: string[];
  cells: string[] | undefined;
  cell: string | undefined;
  /** Whether the table only arranges the page, so that its cells are paragraphs. */
  isLayout: boolean;
}

/**
 * The place of a block: in the main content as the page marks it, in an article outside of it, or elsewhere.
 */
export type BlockPlace = "main" | "article" | "rest";

export interface CollectedBlocks {
  readonly main: DocumentBlock[];
  readonly articles: DocumentBlock[];
  readonly all: DocumentBlock[];
}

export class BlockCollector {
  readonly #main: DocumentBlock[] = [];
  readonly #articles: DocumentBlock[] = [];
  readonly #all: DocumentBlock[] = [];
  readonly #tables: OpenTable[] = [];
  /** The pieces of the text: joining them one by one would copy a long text for each piece. */
  #text: string[] = [];
  #place: BlockPlace = "rest";
  #isItem = false;
  #preformatted = 0;

  /** Called when an element opens; its content is at this place. */
  open(name: string, place: BlockPlace): void {
    const table = this.#tables.at(-1);
    if (blockElements.has(name) && !(table && isInCell(table) && name !== "table")) {
      this.#flush();
    }
    this.#place = place;
    this.#preformatted += Number(name === "pre");
    if (name === "table") {
      if (table) {
        this.#release(table);
      }
      this.#tables.push({ rows: [], cells: undefined, cell: undefined, isLayout: false });
    } else if (name === "br") {
      this.#text.push(lineBreak);
    } else if (name === "li") {
      this.#isItem = true;
    } else if (table && !table.isLayout) {
      openInTable(table, name);
      if (isInCell(table) && blockElements.has(name)) {
        this.#text.push(" ");
      }
    }
  }

  add(text: string): void {
    this.#text.push(text);
  }

  /** Called when an element closes; the content after it is at this place. */
  close(name: string, place: BlockPlace): void {
    const table = this.#tables.at(-1);
    if (table && !table.isLayout && isTablePart(name)) {
      this.#closeInTable(table, name);
    } else if (/^h[1-6]$/.test(name) && !(table && isInCell(table))) {
      this.#flush(Number(name[1]));
    } else if (blockElements.has(name) && !(table && isInCell(table))) {
      this.#flush();
    }
    if (name === "table") {
      this.#tables.pop();
    }
    this.#preformatted -= Number(name === "pre");
    this.#isItem &&= name !== "li";
    this.#place = place;
  }

  end(): CollectedBlocks {
    this.#flush();
    return { main: this.#main, articles: this.#articles, all: this.#all };
  }

  #closeInTable(table: OpenTable, name: string): void {
    if (name === "td" || name === "th") {
      table.cells ??= [];
      table.cells.push(oneLine(this.#take()));
      table.cell = undefined;
    } else if (name === "tr" && table.cells) {
      table.rows.push(table.cells.join(" | "));
      table.cells = undefined;
    } else if (name === "table") {
      // Text outside the cells, such as the caption, precedes the rows.
      this.#flush();
      const rows = table.rows.filter((row) => /[^\s|]/.test(row));
      if (rows.length > 0) {
        this.#push({ kind: "table", rows, page: null });
      }
    }
  }

  /** A table that contains another table arranges the page: what was collected so far becomes paragraphs. */
  #release(table: OpenTable): void {
    const cells = [...table.rows, ...(table.cells ?? [])];
    const rest = this.#take();
    for (const text of [...cells, oneLine(rest)].filter((each) => each !== "")) {
      this.#push({ kind: "text", text, page: null });
    }
    Object.assign(table, { rows: [], cells: undefined, cell: undefined, isLayout: true });
  }

  #take(): string {
    const text = this.#text.join("");
    this.#text = [];
    return text;
  }

  #flush(level?: number): void {
    const raw = this.#take();
    const text = this.#preformatted > 0 ? code(raw) : lines(raw);
    if (text.trim() === "") {
      return;
    }
    if (level !== undefined) {
      this.#push({ kind: "heading", level, text: oneLine(text), page: null });
    } else {
      this.#push({
        kind: this.#isItem ? "item" : "text",
        text: this.#isItem ? `- ${text}` : text,
        page: null,
      });
    }
    this.#isItem = false;
  }

  #push(block: DocumentBlock): void {
    this.#all.push(block);
    if (this.#place === "main") {
      this.#main.push(block);
    } else if (this.#place === "article") {
      this.#articles.push(block);
    }
  }
}

function openInTable(table: OpenTable, name: string): void {
  if (name === "tr") {
    table.cells = [];
  } else if (name === "td" || name === "th") {
    table.cell = "";
  }
}

function isInCell({ cell, isLayout }: OpenTable): boolean {
  return cell !== undefined && !isLayout;
}

function isTablePart(name: string): boolean {
  return ["table", "tr", "td", "th"].includes(name);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Line breaks of the source become spaces; line breaks of `br` stay. */
function lines(text: string): string {
  const joined = text.replace(/[^\S\u2028]+/g, " ").trim();
  return joined.replace(/ ?\u2028 ?/g, "\n");
}

function code(text: string): string {
  return text
    .replaceAll(lineBreak, "\n")
    .replace(/^\s*\n/, "")
    .trimEnd();
}
