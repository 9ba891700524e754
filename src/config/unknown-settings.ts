/**
 * Finds unknown settings. A probably misspelt setting is an error, because ignoring it could remove a
 * protection.
 */
import { nearestName } from "../../tools/contract/index.ts";

const prefix = "TIDINGS_";

/** The first unknown setting that is similar to a known setting, with the known setting. */
export function findMisspelt(
  names: readonly string[],
  known: readonly string[],
): { readonly name: string; readonly nearest: string } | undefined {
  const candidates = known.filter((name) => name.startsWith(prefix)).map(withoutPrefix);
  for (const name of unknownNames(names, known)) {
    // The prefix is left out, because it would make short names similar.
    const nearest = nearestName(withoutPrefix(name), candidates);
    if (nearest !== undefined) {
      return { name, nearest: prefix + nearest };
    }
  }
  return undefined;
}

/**
 * One warning for each unknown name. For example, some hosting platforms add such names for a service named
 * tidings.
 */
export function warnAboutUnknown(names: readonly string[], known: readonly string[]): string[] {
  return unknownNames(names, known).map((name) => `Unknown setting ${name} is ignored.`);
}

function unknownNames(names: readonly string[], known: readonly string[]): string[] {
  const isOurs = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}TEST_`);
  return names.filter((name) => isOurs(name) && !known.includes(name));
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}
