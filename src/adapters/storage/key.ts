/** The keys that a store takes: whatever else comes, no path leads out of its folder or bucket. */

const keyPattern = /^[\w-]{1,128}(?:\/[\w-]{1,128}){0,3}$/;

/** @throws for anything but letters, digits, `_` and `-` between slashes. */
export function requireStorageKey(key: string): string {
  if (!keyPattern.test(key)) {
    throw new Error("a file's key is not one of ours");
  }
  return key;
}
