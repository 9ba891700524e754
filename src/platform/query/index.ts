/** The condition language that routing, cohorts and flows share. */
export { conversationAttributes, countryOf } from "./attributes.ts";
export { matches } from "./matches.ts";
export { fold } from "./normalize-text.ts";
export { parseQuery } from "./parse.ts";
