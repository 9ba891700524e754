/** Messages with templates: finding the template, and composing the message. */
export {
  findTemplates,
  isTemplateSendable,
  requireApproved,
  requireApprovedById,
  suggestTemplates,
} from "./approved.ts";
export { type ApprovedTemplate, composeTemplate, createComposer } from "./compose.ts";
export { textOfTemplate } from "./text.ts";
export { variableNames } from "./values.ts";
