/** A list as a person writes it: words between commas. */
export function readList(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
}
