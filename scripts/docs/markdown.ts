/** Formats Markdown for the reference pages. */

/** One generated file. */
export interface Page {
  /** The files from which the page is generated; named in its first line. */
  readonly source: string;
  readonly body: string;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(escapeCell).join(" | ")} |`).join("\n");
}

/** Inline code; empty for an empty text. */
export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

export function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
