/** PDF files of long texts. */
import { createPdf } from "../../test/support/pdf.ts";

const linesPerPage = 54;

/** A form feed begins a page. A full page continues on the next one. */
export function toPdf(text: string): Buffer {
  return createPdf(text.split("\f").flatMap(splitPage));
}

function splitPage(page: string): string[][] {
  const lines = page.split("\n");
  const count = Math.max(1, Math.ceil(lines.length / linesPerPage));
  return Array.from({ length: count }, (_, index) =>
    lines.slice(index * linesPerPage, (index + 1) * linesPerPage),
  );
}
