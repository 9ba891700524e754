/** The condition language shared by routing, cohorts and flows. */
export { conversationAttributes, countryOf } from "./attributes.ts";
export { matchesQuery } from "./matches.ts";
export { parseQuery } from "./parse.ts";
export { removeAccents } from "./remove-accents.ts";
