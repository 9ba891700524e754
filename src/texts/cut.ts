/** Cuts texts at a length. */

/**
 * The first `maxLength` UTF-16 code units, one less if the cut would halve a surrogate pair: PostgreSQL
 * rejects a lone surrogate in JSON.
 */
export function cutText(text: string, maxLength: number): string {
  return text.length > maxLength ? text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "") : text;
}

/** The same with an ellipsis after a text that is cut. */
export function shortenText(text: string, maxLength: number): string {
  return text.length > maxLength ? `${cutText(text, maxLength)}…` : text;
}
