/** The section of keys: the list, a new key, and one key with its rules. */
import type { SectionProps } from "../section-props.ts";
import { KeyDetail } from "./key-detail.tsx";
import { KeyForm } from "./key-form.tsx";
import { KeyList } from "./key-list.tsx";

export function SettingsKeys({ id }: SectionProps) {
  if (id === undefined) {
    return <KeyList />;
  }
  return id === "new" ? <KeyForm /> : <KeyDetail key={id} id={id} />;
}
