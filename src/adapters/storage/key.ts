/** Validates storage keys, so that no path leads out of the folder or bucket. */

const keyPattern = /^[\w-]{1,128}(?:\/[\w-]{1,128}){0,3}$/;

/** @throws for any characters except letters, digits, `_` and `-` between slashes. */
export function requireStorageKey(key: string): string {
  if (!keyPattern.test(key)) {
    throw new Error("invalid storage key");
  }
  return key;
}
