/** Cuts texts at a length. */

/**
 * The first `maxLength` UTF-16 code units, or one less if the cut would halve a surrogate pair: PostgreSQL
 * rejects a lone surrogate in JSON.
 */
export function cutText(text: string, maxLength: number): string {
  const isPair = text.length > maxLength && /[\ud800-\udbff]/.test(text.charAt(maxLength - 1));
  return text.slice(0, isPair ? maxLength - 1 : maxLength);
}

/** The same with an ellipsis after a text that is cut. */
export function shortenText(text: string, maxLength: number): string {
  return text.length > maxLength ? `${cutText(text, maxLength)}…` : text;
}

/** The same with the number of characters that are left out. */
export function shortenAndCount(text: string, maxLength: number): string {
  const shown = cutText(text, maxLength);
  const omitted = text.length - shown.length;
  return omitted > 0 ? `${shown}… (${omitted} more characters)` : text;
}
