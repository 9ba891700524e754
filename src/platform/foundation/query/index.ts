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
export { readFact } from "./facts.ts";
export { matchesQuery } from "./matches.ts";
export { exampleOf, operatorsOf } from "./operands.ts";
export { parseQuery } from "./parse.ts";
export type { Query, ValueType } from "./query.ts";
export { removeAccents } from "./remove-accents.ts";
export { normalizeText } from "./values.ts";
