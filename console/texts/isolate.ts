/** Keeps the direction of a name from changing that of the text around it, where no element can. */
export function isolate(name: string): string {
  return `\u2068${name}\u2069`;
}
