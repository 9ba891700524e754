/** A version of a template, and the values that a message gives to its variables. */
import type { Selectable } from "kysely";
import type { Tables } from "../../../database/schema/index.ts";

/** The content, and the variables in the order of their placeholders. */
export type Version = NonNullable<Selectable<Tables["templates"]>["submitted"]>;

/** The values that the caller sends with a template. */
export interface TemplateValues {
  /** In the order of the version's variables. Complete if there are no problems. */
  readonly texts: readonly string[];
  /** The file of the header; undefined for the template's sample. */
  readonly media?: { readonly url: string; readonly file_name?: string | undefined } | undefined;
  /** The payloads that quick replies return, keyed by the index of the button. */
  readonly payloads: ReadonlyMap<number, string>;
  /** Why values do not fit the template, each as a sentence. */
  readonly problems: readonly string[];
}
