/** Messages with templates: which template is meant, and what the message contains. */
export { findTemplates, requireApproved, suggestTemplates } from "./approved.ts";
export { composeTemplate, type SentTemplate } from "./compose.ts";
