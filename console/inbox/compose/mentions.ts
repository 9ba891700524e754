/** People who are mentioned in a note, as `@` with their name. */
import { texts } from "../../texts.ts";
import { directory } from "../directory.ts";
import type { OfferSource } from "./offer-list.tsx";

export const peopleSource: OfferSource = {
  sign: "@",
  label: texts.panel.people,
  find: (typed) =>
    directory.value.people
      .filter(({ name }) =>
        name
          .toLowerCase()
          .split(/\s+/)
          .some((word) => word.startsWith(typed)),
      )
      .map(({ id, name, email }) => ({ id, name, detail: email, content: `@${name} ` })),
};

/** The ids of the people whom a text mentions. */
export function findMentioned(text: string): string[] {
  // The longest names first: `@Ana Lopez` does not mention Ana.
  const people = directory.value.people.toSorted((a, b) => b.name.length - a.name.length);
  let rest = text;
  const found: string[] = [];
  for (const { id, name } of people) {
    if (rest.includes(`@${name}`)) {
      found.push(id);
      rest = rest.replaceAll(`@${name}`, "");
    }
  }
  return found;
}
