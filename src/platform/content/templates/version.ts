/** A version of a template, and the values that a message gives to its variables. */
import type { Selectable } from "kysely";
import type { Tables } from "../../../database/schema/index.ts";

/** The content, and the variables in the order of their places. */
export type Version = NonNullable<Selectable<Tables["templates"]>["submitted"]>;

/** What the caller sends with a template. */
export interface TemplateValues {
  /** In the order of the version's variables; all if there is no problem. */
  readonly texts: readonly string[];
  /** The file of the header; undefined for the template's sample. */
  readonly media?: { readonly url: string; readonly file_name?: string | undefined } | undefined;
  /** What quick replies return, by the index of the button. */
  readonly payloads: ReadonlyMap<number, string>;
  /** What does not fit the template, each a sentence. */
  readonly problems: readonly string[];
}
