/** Warns about misspelt settings, which would otherwise be ignored silently. */

import { nearest } from "../../tools/contract/index.ts";

/** One warning for each unknown name, with the nearest known one. */
export function warnAboutUnknown(names: readonly string[], known: readonly string[]): string[] {
  const isOurs = (name: string) => name.startsWith("TIDINGS_") && !name.startsWith("TIDINGS_TEST_");
  return names
    .filter((name) => isOurs(name) && !known.includes(name))
    .map((name) => {
      const suggestion = nearest(name, known);
      return `Unknown setting ${name}${suggestion === undefined ? "" : `; the nearest is ${suggestion}`}.`;
    });
}
