/** The text of a template message, as a person reads it. */
import type { SentTemplate } from "../../../../database/schema/index.ts";

/** A file in the header is named in brackets. */
export function textOfTemplate({ header, body, footer }: SentTemplate): string {
  const head = header && ("text" in header ? header.text : `[${header.media.file_name ?? header.type}]`);
  return [head, body, footer].filter((part) => part !== null && part !== "").join("\n");
}
