/**
 * The condition language shared by routing, cohorts and flows: parsing, evaluation in memory, and compilation
 * to SQL. The modules that own the tables declare where SQL finds the values of their attributes.
 */
export {
  cohortAttributes,
  contactAttributes,
  conversationAttributes,
  type ownConversationAttributes,
} from "./attributes.ts";
export { type CompileContext, compileQuery, compileUnits, type Unit } from "./compile.ts";
export { readFact } from "./facts.ts";
export { limitMarks } from "./limit-marks.ts";
export { matchesQuery } from "./matches.ts";
export { exampleOf, operatorsOf } from "./operands.ts";
export { parseQuery } from "./parse.ts";
export { type Expression, neverNull, type Predicate, parameter } from "./predicate.ts";
export { attributesOf, type PositiveCondition, type Query, type ValueType } from "./query.ts";
export { removeAccents } from "./remove-accents.ts";
export {
  jsonSource,
  type RelatedRows,
  type Source,
  type SourceContext,
  type Sources,
  tagsSource,
  valueSource,
} from "./source.ts";
export { normalizeText } from "./values.ts";
