/**
 * Finds unknown settings. A probably misspelt setting is an error, because ignoring it could remove a
 * protection.
 */
import { nearestName } from "../../tools/contract/index.ts";
import type { SettingWarning } from "./warnings.ts";

const prefix = "TIDINGS_";

/** The unknown settings that are similar to a known setting, each with the known setting. */
export function findMisspelt(
  names: readonly string[],
  known: readonly string[],
): readonly { readonly name: string; readonly nearest: string }[] {
  const candidates = known.filter((name) => name.startsWith(prefix)).map(withoutPrefix);
  return unknownNames(names, known).flatMap((name) => {
    // The prefix is left out, because it would make short names similar.
    const nearest = nearestName(withoutPrefix(name), candidates);
    return nearest === undefined ? [] : [{ name, nearest: prefix + nearest }];
  });
}

/**
 * One warning for each unknown name. For example, some hosting platforms add such names for a service named
 * tidings.
 */
export function warnAboutUnknown(
  names: readonly string[],
  known: readonly string[],
): readonly SettingWarning[] {
  return unknownNames(names, known).map((name) => ({
    message: `Unknown setting ${name} is ignored.`,
    fix: "Unset it, or correct its name.",
  }));
}

function unknownNames(names: readonly string[], known: readonly string[]): string[] {
  const isOurs = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}TEST_`);
  return names.filter((name) => isOurs(name) && !known.includes(name));
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}
