/**
 * Templates: prepared messages, which the channel's review authority must approve before they can be sent.
 */
import { z } from "zod";
import { id, inboxId, no, one, operation, paged, paging, yes } from "../contract/index.ts";
import {
  Authentication,
  Template,
  TemplateData,
  templateCategories,
  templateLanguage,
  templateName,
  templateSkipReasons,
  templateSorts,
  templateStatuses,
  Variable,
} from "./data.ts";

export * from "./data.ts";
export { templateErrors } from "./errors.ts";
export { templateEvents } from "./events.ts";

const templateId = id("Template", "list_templates");
const variables = z
  .array(Variable)
  .max(100)
  .optional()
  .describe("With examples, in the order of their numbers");

export const templates = {
  create_template: operation({
    method: "POST",
    path: "/v1/templates",
    scope: "templates:create",
    tier: "lean",
    title: "Create template",
    description: "Create a draft template. Correct what warnings lists, then call submit_template.",
    input: z.object({
      name: templateName.describe("Letters, digits, _"),
      category: z.enum(templateCategories).describe("Purpose"),
      language: templateLanguage.optional().describe("Like en_US; by default the organization's"),
      inbox_id: inboxId.optional().describe("Inbox id, from whoami; by default the first"),
      template_data: TemplateData.describe("Content"),
      variables,
    }),
    output: one(Template),
    status: 201,
  }),

  create_otp_template: operation({
    method: "POST",
    path: "/v1/templates/authentication",
    scope: "templates:create",
    tier: "extended",
    title: "Create authentication template",
    description:
      "Create a draft template for one-time codes. WhatsApp writes its text. Then call submit_template. Send the code as the variable code; it is not stored in clear and not shown.",
    input: z
      .object({
        name: templateName.describe("Letters, digits, _"),
        language: templateLanguage.optional().describe("Like en_US; by default the organization's"),
        inbox_id: inboxId.optional().describe("Inbox id, from whoami; by default the first"),
        ...Authentication.shape,
        message_send_ttl_seconds: z.int().min(30).max(900).optional().describe("How long delivery is tried"),
      })
      .superRefine(({ button, apps = [], zero_tap_terms_accepted: terms }, context) => {
        if (button !== "copy_code" && apps.length === 0) {
          const message = `The button ${button} needs the apps that get the code.`;
          context.addIssue({ code: "custom", path: ["apps"], message });
        }
        if (button === "copy_code" && apps.length > 0) {
          const message = "The button copy_code has no apps: remove them.";
          context.addIssue({ code: "custom", path: ["apps"], message });
        }
        if (button === "zero_tap" && terms !== true) {
          const message = "The button zero_tap needs true: accept its terms in WhatsApp Manager first.";
          context.addIssue({ code: "custom", path: ["zero_tap_terms_accepted"], message });
        }
      }),
    output: one(Template),
    status: 201,
  }),

  list_templates: operation({
    method: "GET",
    path: "/v1/templates",
    scope: "templates:read",
    tier: "lean",
    title: "List templates",
    description:
      "List or search templates. Those with status approved can be sent; get_template has the content.",
    input: z.object({
      status: z.enum(templateStatuses).optional().describe("Only this status"),
      category: z.enum(templateCategories).optional().describe("Only this category"),
      language: templateLanguage.optional().describe("Only this language"),
      search: z.string().max(255).optional().describe("Part of the name"),
      sort: z.enum(templateSorts).default("latest").describe("Order"),
      ...paging(25),
    }),
    output: paged(
      Template.pick({
        id: true,
        name: true,
        channel: true,
        category: true,
        language: true,
        inbox_id: true,
        status: true,
        is_sendable: true,
        quality_rating: true,
        rejection_reason: true,
        created_at: true,
        updated_at: true,
      }),
    ),
  }),

  get_template: operation({
    method: "GET",
    path: "/v1/templates/{id}",
    scope: "templates:read",
    tier: "lean",
    title: "Get template",
    description: "Get a template: content, names of variables, status, and why it was rejected.",
    input: z.object({ id: templateId }),
    output: one(Template),
  }),

  update_template: operation({
    method: "PUT",
    path: "/v1/templates/{id}",
    scope: "templates:create",
    tier: "extended",
    title: "Update template",
    description:
      "Change a template, which becomes a draft. Only the fields sent change. An approved version stays in use until the draft is submitted with submit_template.",
    input: z.object({
      id: templateId,
      name: templateName.optional().describe("Fixed once submitted"),
      language: templateLanguage.optional().describe("Fixed once submitted"),
      category: z.enum(templateCategories).optional().describe("Fixed once it is approved"),
      template_data: TemplateData.optional().describe("Replaces the whole content"),
      variables,
    }),
    output: one(Template),
  }),

  submit_template: operation({
    method: "POST",
    path: "/v1/templates/{id}/submit",
    scope: "templates:create",
    effect: "outward",
    tier: "lean",
    title: "Submit template",
    description:
      "Submit a draft template for review. Its status becomes pending. The outcome arrives by itself, or with sync_templates.",
    input: z.object({ id: templateId }),
    output: one(
      Template.pick({
        id: true,
        name: true,
        status: true,
        external_id: true,
        warnings: true,
        updated_at: true,
      }),
    ),
    hints: {
      destructive: yes("A submitted template is at the review authority, and can't be withdrawn."),
      idempotent: yes("A pending template is not submitted again."),
      openWorld: yes("It sends the template to the review authority."),
    },
  }),

  sync_templates: operation({
    method: "POST",
    path: "/v1/templates/sync",
    scope: "templates:manage",
    effect: "outward",
    title: "Sync templates",
    description:
      "Fetch statuses, ratings and rejection reasons of templates from the review authority, and templates created there.",
    input: z.object({ inbox_id: inboxId.optional().describe("Only this inbox") }),
    output: one(
      z.object({
        synced: z.int(),
        updated: z.int(),
        statuses: z.record(z.string(), z.int()),
        /** Templates of the authority that were not added, at most 100. */
        skipped: z.array(
          z.object({ name: z.string(), language: z.string(), reason: z.enum(templateSkipReasons) }),
        ),
      }),
    ),
    hints: {
      destructive: no("It copies what the review authority says, and the authority keeps it."),
      idempotent: yes("Without changes at the authority, a second call changes nothing."),
      openWorld: yes("It asks the review authority."),
    },
  }),

  delete_template: operation({
    method: "DELETE",
    path: "/v1/templates/{id}",
    scope: "templates:manage",
    effect: "outward",
    tier: "extended",
    title: "Delete template",
    description:
      "Delete a template here and at the review authority. Its name may stay reserved there for a while.",
    input: z.object({ id: templateId }),
    output: one(z.object({ id: z.string(), deleted: z.literal(true) })),
    hints: { openWorld: yes("It deletes the template at the review authority too.") },
  }),
};
