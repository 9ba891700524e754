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
  /** The payloads that quick replies return, by `payloadKey`. */
  readonly payloads: ReadonlyMap<string, string>;
  /** Why values do not fit the template, each as a sentence. */
  readonly problems: readonly string[];
}

/** The quick reply of a template, or of a card of a carousel. */
export function payloadKey(button_index: number, card_index?: number): string {
  return `${card_index ?? ""}/${button_index}`;
}

/** The address that the file of a card has without a value of its own. */
export function sampleOf(
  { template_data: { cards = [] } }: Version,
  { component, card_index = 0 }: Pick<Version["variables"][number], "component" | "card_index">,
): string | undefined {
  return component === "CARD_HEADER" ? cards[card_index]?.header.media_url : undefined;
}
