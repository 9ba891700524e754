/** The variables of a template: one for each placeholder, named by the caller or after its number. */
import { failField } from "../../../tools/errors.ts";
import type { TemplateData, Variable } from "../../../tools/templates/index.ts";
import { type Place, placesOf } from "./placeholders.ts";

/**
 * The variables in the order of their places: header, body, buttons. Of a component of which `given` names none, the
 * variables keep the names of `earlier` if their number is the same.
 * @throws Failure `template_variables_mismatch`.
 */
export function resolveVariables(
  data: TemplateData,
  given: readonly Variable[] = [],
  earlier: readonly Variable[] = [],
): Variable[] {
  const places = placesOf(data);
  const owners = given.map((variable) => places.find((place) => isAt(variable, place, places)));
  const misplaced = given.filter((_, index) => owners[index] === undefined);
  requireCount(misplaced, { component: misplaced[0]?.component ?? "", expected: 0 });
  return places.flatMap((place) => {
    const named = given.filter((_, index) => owners[index] === place);
    const { length: expected } = place.numbers;
    if (named.length > 0) {
      requireCount(named, { component: nameOf(place), expected });
    }
    const kept = earlier.filter((variable) => isAt(variable, place, places));
    const names = named.length > 0 ? named : kept.length === expected ? kept : [];
    return place.numbers.map((number, index) => toVariable(place, number, names[index]));
  });
}

/** A variable of a button without an index is that of the first url button with a placeholder. */
function isAt({ component, button_index }: Variable, place: Place, places: readonly Place[]): boolean {
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

function nameOf({ component, button_index }: Place): string {
  return button_index === undefined ? component : `button ${button_index}`;
}

/** Names of header and button variables differ from those of the body, so that a value is sent to one place. */
function toVariable(
  { component, button_index }: Place,
  number: number,
  given: Variable | undefined,
): Variable {
  const defaultNames = {
    HEADER: `header_${number}`,
    BODY: String(number),
    BUTTONS: `button_${button_index}_${number}`,
  };
  const name = given?.name ?? defaultNames[component];
  const place = button_index === undefined ? { component } : { component, button_index };
  return { name, ...place, example: given?.example ?? name };
}
