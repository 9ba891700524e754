/** The review of templates: submission, sync with the authority, and deletion there. */
export { requireLanguage, requireTemplates } from "./authority.ts";
export { deleteTemplate } from "./delete.ts";
export { submitTemplate } from "./submit.ts";
export { requestSync, syncPendingTemplatesJob, syncTemplates, syncTemplatesJob } from "./sync.ts";
