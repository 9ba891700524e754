/** Reads a table of a documentation page, so that a test can compare it with what really happens. */
import { readFile } from "node:fs/promises";

/** The first table below the heading, as text. */
export async function readTableBelow(page: string, heading: string): Promise<string> {
  const text = await readFile(page, "utf8");
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  return /(?:^\|.*\n)+/m.exec(section)?.[0].trim() ?? "";
}
