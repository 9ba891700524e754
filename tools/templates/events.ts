/** The events of templates. */
import { z } from "zod";
import { templateCategories, templateStatuses } from "./data.ts";

export const templateEvents = {
  "template.status_changed": {
    scope: "templates:read",
    data: z.object({
      template_id: z.string(),
      inbox_id: z.string(),
      name: z.string(),
      language: z.string(),
      category: z.enum(templateCategories),
      status: z.enum(templateStatuses),
      previous_status: z.enum(templateStatuses),
      /** Why the authority rejected the template; null otherwise. */
      rejection_reason: z.string().nullable(),
    }),
  },
} as const;
