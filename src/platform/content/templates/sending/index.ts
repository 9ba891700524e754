/** Messages with templates: which template is meant, and what the message contains. */
export {
  findTemplates,
  isTemplateSendable,
  requireApproved,
  requireApprovedById,
  suggestTemplates,
} from "./approved.ts";
export { type ApprovedTemplate, composeTemplate, createComposer } from "./compose.ts";
export { variableNames } from "./values.ts";
