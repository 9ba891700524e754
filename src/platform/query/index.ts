/** The condition language shared by routing, cohorts and flows. */
export { cohortAttributes, conversationAttributes, countryOf } from "./attributes.ts";
export {
  type CompileContext,
  compileQuery,
  compileUnits,
  contactSources,
  conversationSources,
  type Predicate,
  type Sources,
  type Unit,
} from "./compile/index.ts";
export { matchesQuery } from "./matches.ts";
export { parseQuery } from "./parse.ts";
export { removeAccents } from "./remove-accents.ts";
export { normalizeText } from "./values.ts";
