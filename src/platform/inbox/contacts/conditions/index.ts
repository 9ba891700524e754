/** What conditions compare of contacts: their columns, normalized texts, and dates in metadata. */
export {
  type DateAttribute,
  declareDate,
  fillDatesJob,
  listDateAttributes,
  withdrawDate,
} from "./date-attributes.ts";
export {
  normalizeContacts,
  normalizedAfterChange,
  normalizedAtAfterChange,
  normalizedTexts,
} from "./normalized.ts";
export { contactSources } from "./sources.ts";
