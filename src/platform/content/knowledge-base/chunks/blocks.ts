/** Divides large blocks of documents, so that each is cleaned and split in a few milliseconds. */
import type { DocumentBlock } from "../../../../ports/files/document-reader.ts";
import { cutText } from "../../../../texts/cut.ts";
import { pause } from "../../../../time/pauses.ts";

/** In characters: some dozen chunks. */
const maxBlock = 50_000;

/**
 * Divides a larger block into several blocks of its kind. Each part of a table begins with the table's
 * header, its first row.
 */
export async function divideBlocks(blocks: readonly DocumentBlock[]): Promise<DocumentBlock[]> {
  const divided: DocumentBlock[] = [];
  for (const block of blocks) {
    await pause();
    if (block.kind === "table") {
      const groups = await groupRows(block.rows);
      divided.push(...groups.map((rows) => ({ ...block, rows })));
    } else if (block.kind === "heading") {
      divided.push({ ...block, text: cutText(block.text, maxBlock) });
    } else {
      divided.push(...divideText(block.text).map((text) => ({ ...block, text })));
    }
  }
  return divided;
}

/** Divides at spaces if there are any, and never within a character. */
function divideText(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > maxBlock) {
    const part = cutText(text.slice(start), maxBlock);
    const space = Math.max(part.lastIndexOf("\n"), part.lastIndexOf(" "));
    const end = space > maxBlock / 2 ? space : part.length;
    parts.push(part.slice(0, end));
    start += end;
  }
  return [...parts, text.slice(start)];
}

/** A first row that is as long as half of a block is no header. */
async function groupRows(rows: readonly string[]): Promise<string[][]> {
  const [first = ""] = rows;
  const header = rows.length > 1 && first.length <= maxBlock / 2 ? [first] : [];
  const groups: string[][] = [];
  const headerLength = header.length === 0 ? 0 : first.length;
  let group = [...header];
  let length = headerLength;
  for (const row of rows.slice(header.length)) {
    for (const part of row.length > maxBlock ? divideText(row) : [row]) {
      if (group.length > header.length && length + part.length > maxBlock) {
        await pause();
        groups.push(group);
        group = [...header];
        length = headerLength;
      }
      group.push(part);
      length += part.length + 1;
    }
  }
  return [...groups, group];
}
