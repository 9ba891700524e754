/**
 * A map that drops the entries that were set longest ago, so that no client can fill the memory with keys.
 */

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** A few megabytes in total. */
const maxEntries = 20_000;

export function createBoundedMap<Value>(): BoundedMap<Value> {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      // Deleted first, because a Map keeps the position of a key that is set again.
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) {
        entries.delete(oldest);
      }
    },
    delete: (key) => void entries.delete(key),
  };
}
