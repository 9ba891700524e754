/** Saves some members of settings that several people may edit at once. */
import { useSignal } from "@preact/signals";
import { showToast } from "../controls/toast.tsx";
import { ServiceError } from "../service/errors.ts";
import { texts } from "../texts.ts";

interface Options<All extends object, Part extends object> {
  /** What the person sees. */
  readonly shown: All;
  readonly read: () => Promise<All>;
  readonly write: (part: Part) => Promise<All>;
  /** Called with what the service has, also if nothing was saved. */
  readonly onRead: (present: All) => void;
}

export type SaveParts<Part extends object> = (part: Part) => Promise<void>;

/**
 * @returns a function that saves the members, if nobody else has changed the same ones since they were shown.
 *   Otherwise it throws, and a second call replaces them.
 */
export function useSaveParts<All extends object, Part extends object>({
  shown,
  read,
  write,
  onRead,
}: Options<All, Part>): SaveParts<Part> {
  const seen = useSignal(shown);
  return async (part) => {
    // The other forms still show what they did.
    const see = (next: All) => {
      const members = Object.keys(part).map((name) => [name, Reflect.get(next, name)]);
      seen.value = { ...seen.value, ...Object.fromEntries(members) };
      onRead(next);
    };
    const present = await read();
    const isSame = Object.keys(part).every((name) => hasSame(name, seen.value, present));
    see(present);
    if (!isSame) {
      throw new ServiceError(409, "changed_meanwhile", texts.settings.changedMeanwhile);
    }
    see(await write(part));
    showToast(texts.form.saved);
  };
}

/** Both are answers of the same operation, whose members always have the same order. */
function hasSame(name: string, one: object, other: object): boolean {
  return JSON.stringify(Reflect.get(one, name)) === JSON.stringify(Reflect.get(other, name));
}
