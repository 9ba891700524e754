/** What a person chose in this browser, and the stored values of other parts of the page. */
import { signal } from "@preact/signals";
import { session } from "./session/session.ts";

interface Preferences {
  /** Whether a message from a customer makes a sound. */
  readonly hasSound: boolean;
  /** Whether the trace of the playground shows the ids of records. */
  readonly hasIds: boolean;
}

export const preferences = signal<Preferences>({
  hasSound: false,
  hasIds: false,
  ...read<Preferences>("preferences"),
});

export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  preferences.value = { ...preferences.value, [name]: value };
  write("preferences", preferences.value);
}

/** What was stored in this browser under the name, or undefined; other programs may have changed it. */
export function read<Value>(name: string): Partial<Value> | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(`tidings.${name}`) ?? "null");
    return typeof value === "object" && value !== null ? (value as Partial<Value>) : undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value in this browser; undefined removes it. A full or blocked storage loses it. */
export function write(name: string, value: object | undefined): void {
  try {
    if (value === undefined) {
      localStorage.removeItem(`tidings.${name}`);
    } else {
      localStorage.setItem(`tidings.${name}`, JSON.stringify(value));
    }
  } catch {
    // The page works without.
  }
}

/** Calls when another tab has changed what is stored under the name. @returns a function that ends it */
export function watchStored(name: string, onChange: () => void): () => void {
  const handle = ({ key }: StorageEvent) => {
    if (key === `tidings.${name}`) {
      onChange();
    }
  };
  addEventListener("storage", handle);
  return () => removeEventListener("storage", handle);
}

/** The name of a stored value of the signed-in person. */
export function ofPerson(name: string): string {
  return `${session.value?.user.id}.${name}`;
}
