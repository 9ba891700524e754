/** The condition language that routing, cohorts and flows share. */
export { conversationAttributes, countryOf } from "./attributes.ts";
export { matchesQuery } from "./matches.ts";
export { parseQuery } from "./parse.ts";
export { removeAccents } from "./remove-accents.ts";
