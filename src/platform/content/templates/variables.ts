/**
 * The variables of a template: one for each placeholder, with the placeholder's name, or else the caller's or
 * one made from the number.
 */
import { failField } from "../../../../tools/errors.ts";
import type { TemplateData, Variable } from "../../../../tools/templates/index.ts";
import { type VariableText, variableTextsOf } from "./placeholders.ts";
import { matchPlaceholders } from "./renumbered.ts";

/** The template before the change. */
interface Earlier {
  readonly template_data: TemplateData;
  readonly variables: readonly Variable[];
}

/**
 * The variables in the order of their texts: header, body, buttons. If `given` names no variable of a
 * component, the component's variables keep their earlier names, even if they are renumbered.
 * @throws Failure `template_variables_mismatch`, `template_variable_unknown`.
 */
export function resolveVariables(
  data: TemplateData,
  given: readonly Variable[] = [],
  earlier?: Earlier,
): Variable[] {
  const places = variableTextsOf(data);
  const owners = given.map((variable) => places.find((place) => isAt(variable, place, places)));
  const misplaced = given.filter((_, index) => owners[index] === undefined);
  requireCount(misplaced, { component: misplaced[0]?.component ?? "", expected: 0 });
  return places.flatMap((place) => {
    const named = given.filter((_, index) => owners[index] === place);
    const { length: expected } = place.numbers;
    if (named.length > 0) {
      requireCount(named, { component: nameOf(place), expected });
    }
    if (place.names.length > 0) {
      return nameByPlaceholders(place, named, earlier);
    }
    const names = named.length > 0 || !earlier ? named : keepNames(place, earlier);
    return place.numbers.map((number, index) => toVariable(place, number, names[index]));
  });
}

/**
 * The variables of a text whose placeholders have names. Without a given example, a variable keeps the one
 * that it had. @throws Failure `template_variable_unknown`.
 */
function nameByPlaceholders(
  place: VariableText,
  given: readonly Variable[],
  earlier: Earlier | undefined,
): Variable[] {
  const [unknown] = given.filter(({ name }) => !place.names.includes(name));
  if (unknown) {
    const { name } = unknown;
    throw failField("variables", "template_variable_unknown", { component: nameOf(place), name });
  }
  const known = earlier?.variables.filter(({ component }) => component === place.component) ?? [];
  return place.names.map((name, index) => {
    const example = [...given, ...known].find(
      (one) => one.name === name && one.example !== undefined,
    )?.example;
    return toVariable(place, place.numbers[index] ?? 0, { name, ...(example !== undefined && { example }) });
  });
}

/** The names and examples that the variables of a text had before, in the order of its numbers. */
function keepNames(
  place: VariableText,
  { template_data, variables }: Earlier,
): readonly (GivenVariable | undefined)[] {
  const places = variableTextsOf(template_data);
  const former = places.find(
    ({ component, button_index }) => component === place.component && button_index === place.button_index,
  );
  if (!former) {
    return [];
  }
  const kept = variables.filter((variable) => isAt(variable, former, places));
  return matchPlaceholders(place.text, former.text).map((index) => {
    const variable = index === undefined ? undefined : kept[index];
    return variable && givenOf(variable, defaultName(former, former.numbers[index ?? 0] ?? 0));
  });
}

type GivenVariable = Partial<Pick<Variable, "name" | "example">>;

/**
 * Omits a name that was made from the number, because it belongs to the number, and an example that equals
 * the name.
 */
function givenOf({ name, example }: Variable, byNumber: string): GivenVariable {
  return { ...(name !== byNumber && { name }), ...(example !== name && { example }) };
}

/** A button variable without an index belongs to the first button that has a variable. */
function isAt(
  { component, button_index }: Variable,
  place: VariableText,
  places: readonly VariableText[],
): boolean {
  const isFirst = place === places.find((one) => one.component === component && one.numbers.length > 0);
  return (
    component === place.component &&
    (button_index === undefined ? isFirst : button_index === place.button_index) &&
    place.numbers.length > 0
  );
}

function requireCount(
  named: readonly Variable[],
  { component, expected }: { readonly component: string; readonly expected: number },
): void {
  if (named.length !== expected) {
    const names = named.map(({ name }) => name).join(", ");
    throw failField("variables", "template_variables_mismatch", {
      component,
      expected,
      count: named.length,
      names,
    });
  }
}

function nameOf({ component, button_index }: VariableText): string {
  return button_index === undefined ? component : `button ${button_index}`;
}

/**
 * Default names in the header and in buttons differ from default names in the body, so that a value is sent
 * to one place.
 */
function defaultName(
  { component, button_index, card_index, implied = [] }: VariableText,
  number: number,
): string {
  const names = {
    HEADER: `header_${number}`,
    BODY: String(number),
    BUTTONS: `button_${button_index}_${number}`,
    OFFER: `offer_${number}`,
    CARD_HEADER: `card_${card_index}_header_${number}`,
    CARD_BODY: `card_${card_index}_${number}`,
    CARD_BUTTONS: `card_${card_index}_button_${button_index}_${number}`,
  };
  return implied[number - 1] ?? names[component];
}

function toVariable(place: VariableText, number: number, given: GivenVariable | undefined): Variable {
  const { component, button_index } = place;
  const name = given?.name ?? defaultName(place, number);
  const at = button_index === undefined ? { component } : { component, button_index };
  return { name, ...at, example: given?.example ?? name };
}
