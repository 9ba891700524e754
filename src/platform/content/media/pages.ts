/** The text of a document's pages, as much as one answer may have. */
import type { DocumentBlock } from "../../../ports/files/document-reader.ts";
import { shortenAndCount } from "../../../texts/cut.ts";

/** About 5,000 tokens. */
const maxCharacters = 20_000;

interface PageRange {
  /** The page to begin with, from 1. */
  readonly page: number;
  readonly pages: number;
}

/** The text of whole pages; of a page that is too long alone, its beginning. */
export function selectPages(blocks: readonly DocumentBlock[], { page: first, pages }: PageRange) {
  let text = "";
  let page = first;
  while (page <= pages) {
    const next = `${text === "" ? "" : "\n\n"}[Page ${page}]\n${textOf(blocks, page)}`;
    if (text !== "" && text.length + next.length > maxCharacters) {
      break;
    }
    text += next;
    page += 1;
  }
  return { text: shortenAndCount(text, maxCharacters), next_page: page <= pages ? page : null };
}

function textOf(blocks: readonly DocumentBlock[], page: number): string {
  return blocks
    .filter((block) => (block.page ?? 1) === page)
    .map((block) => (block.kind === "table" ? block.rows.join("\n") : block.text))
    .join("\n");
}
