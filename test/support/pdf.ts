/** Writes small PDF files for tests: lines of text at positions and sizes. */

export interface PdfText {
  readonly text: string;
  /** In points; default 11. */
  readonly size?: number;
  /** From the lower edge; by default each line is 14 points below the one before. */
  readonly y?: number;
}

/** A file with a page for each list of lines. */
export function createPdf(pages: readonly (readonly (string | PdfText)[])[], trailer = ""): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...pages.flatMap((lines, index) => {
      const content = drawLines(lines);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  return writeFile(objects, trailer);
}

function drawLines(lines: readonly (string | PdfText)[]): string {
  let next = 780;
  return lines
    .map((line) => (typeof line === "string" ? { text: line } : line))
    .map(({ text, size = 11, y = next }: PdfText) => {
      next = y - Math.max(14, size * 1.3);
      return `BT /F1 ${size} Tf 60 ${y} Td (${text.replace(/[\\()]/g, "\\$&")}) Tj ET`;
    })
    .join("\n");
}

function writeFile(objects: readonly string[], trailer: string): Buffer {
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** What makes a reader ask for a password. */
export const encryption = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> /P -4 >> /ID [<${"43".repeat(16)}> <${"43".repeat(16)}>]`;
