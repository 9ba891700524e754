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

type Variable = Version["variables"][number];

/** The values of a form's button, which need not be given: the token, and the data of the first screen. */
export const formDefaults = ["unused", "{}"] as const;

/** The value that a variable has without one of its own: the file of a card, or a part of a form's button. */
export function sampleOf({ template_data, variables }: Version, variable: Variable): string | undefined {
  const { component, card_index = 0 } = variable;
  if (component === "CARD_HEADER") {
    return template_data.cards?.[card_index]?.header.media_url;
  }
  if (isOfForm({ template_data }, variable)) {
    return formDefaults[variables.filter((one) => isAt(one, variable)).indexOf(variable)];
  }
  return undefined;
}

/** Whether it is the token or the data of a button for a form. */
export function isOfForm(
  { template_data: { buttons = [] } }: Pick<Version, "template_data">,
  { component, button_index = -1 }: Pick<Variable, "component" | "button_index">,
): boolean {
  return component === "BUTTONS" && buttons[button_index]?.type === "form";
}

/** The values that the variables of a place have without values of their own. */
export function samplesAt(version: Version, place: VariablePlace): readonly string[] {
  return version.variables
    .filter((variable) => isAt(variable, place))
    .flatMap((variable) => sampleOf(version, variable) ?? []);
}

type VariablePlace = Pick<Variable, "component" | "button_index" | "card_index">;

export function isAt(
  variable: VariablePlace,
  { component, button_index, card_index }: VariablePlace,
): boolean {
  return (
    variable.component === component &&
    variable.button_index === button_index &&
    variable.card_index === card_index
  );
}
