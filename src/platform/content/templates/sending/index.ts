/** Messages with templates: finding the template, and composing the message. */
export {
  findTemplates,
  isVersionSendable,
  requireApproved,
  requireApprovedById,
  suggestTemplates,
} from "./approved.ts";
export { composeTemplate, createComposer } from "./compose.ts";
export type { ApprovedTemplate } from "./sendable.ts";
export { textOfTemplate } from "./text.ts";
export { invalidValueCodes, placeholderValues, variableNames } from "./values.ts";
