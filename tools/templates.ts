/** Templates: prepared messages, which the channel's review authority must approve before they can be sent. */
import { z } from "zod";
import { id, inboxId, one, operation, paged, paging, timestamp } from "./contract/index.ts";

export const templateStatuses = ["draft", "pending", "approved", "rejected", "paused", "disabled"] as const;
export const templateCategories = ["authentication", "utility", "marketing"] as const;
export const templateSorts = ["latest", "oldest", "name-asc", "name-desc"] as const;
const headerTypes = ["text", "image", "video", "document"] as const;
const buttonTypes = ["quick_reply", "url", "phone_number"] as const;
const components = ["HEADER", "BODY", "BUTTONS"] as const;

/** The specification's rule for template names. */
export const templateName = z
  .string()
  .max(512)
  .regex(/^[A-Za-z0-9_]+$/, "Only letters, digits and underscores, at most 512 of them.");

/** `en` or `en_US`. */
export const templateLanguage = z
  .string()
  .max(8)
  .regex(/^[a-z]{2,3}(_[A-Za-z]{2,4})?$/, "Send en or en_US.");

/** The limits that the specification checks at creation; the authority checks its other rules at submission. */
export const TemplateData = z.object({
  body: z
    .string()
    .min(1)
    .max(1024)
    .describe("Text, at most 1024 characters; variables {{1}}, {{2}} in order from 1"),
  header: z
    .object({
      type: z.enum(headerTypes),
      text: z.string().max(1024).optional().describe("For type text"),
      media_url: z.string().max(2048).optional().describe("Sample file, for the other types"),
    })
    .optional(),
  footer: z.string().max(1024).optional(),
  buttons: z
    .array(
      z.object({
        type: z.enum(buttonTypes),
        text: z.string().max(1024),
        url: z.string().max(2048).optional(),
        phone_number: z.string().max(32).optional(),
      }),
    )
    .max(3)
    .optional()
    .describe("At most 3"),
});

const Variable = z.object({
  name: z.string().min(1).max(255),
  component: z.enum(components),
  button_index: z.int32().min(0).optional(),
});

const Template = z.object({
  id: z.string(),
  name: z.string(),
  channel: z.string(),
  category: z.enum(templateCategories),
  language: z.string(),
  inbox_id: z.string().nullable(),
  status: z.enum(templateStatuses),
  // Open: the authority may have changed what was submitted.
  template_data: z.record(z.string(), z.unknown()),
  variables: z.array(z.object({ name: z.string(), component: z.string(), button_index: z.int().optional() })),
  quality_rating: z.string().nullable(),
  external_id: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const templates = {
  create_template: operation({
    method: "POST",
    path: "/v1/templates",
    scope: "templates:create",
    title: "Create template",
    description:
      "Create a draft message template. It can be sent once it is approved. Request the review with submit_template.",
    input: z.object({
      name: templateName.describe("Letters, digits and underscores, for example order_update"),
      category: z.enum(templateCategories).describe("Purpose of the template"),
      language: templateLanguage.default("en").describe("Language code, for example en or en_US"),
      inbox_id: inboxId.optional(),
      template_data: TemplateData.describe("Content"),
      variables: z.array(Variable).max(100).default([]).describe("Name of each variable"),
    }),
    output: one(Template),
    status: 201,
  }),

  list_templates: operation({
    method: "GET",
    path: "/v1/templates",
    scope: "templates:read",
    title: "List templates",
    description: "List or search message templates. Those with status approved can be sent.",
    input: z.object({
      status: z.enum(templateStatuses).optional().describe("Only this status"),
      category: z.enum(templateCategories).optional().describe("Only this category"),
      language: templateLanguage.optional().describe("Only this language"),
      search: z.string().max(255).optional().describe("Part of the name"),
      sort: z.enum(templateSorts).default("latest").describe("Sort order"),
      ...paging(25),
    }),
    output: paged(
      Template.pick({
        id: true,
        name: true,
        channel: true,
        category: true,
        language: true,
        status: true,
        quality_rating: true,
        created_at: true,
        updated_at: true,
      }),
    ),
  }),

  submit_template: operation({
    method: "POST",
    path: "/v1/templates/{id}/submit",
    scope: "templates:create",
    title: "Submit template",
    description:
      "Submit a draft template for review. Its status becomes pending. Get the outcome with sync_templates.",
    input: z.object({ id: id("Template", "list_templates") }),
    output: one(Template.pick({ id: true, name: true, status: true, external_id: true, updated_at: true })),
    hints: { openWorld: true },
  }),

  sync_templates: operation({
    method: "POST",
    path: "/v1/templates/sync",
    scope: "templates:manage",
    title: "Sync templates",
    description:
      "Fetch template statuses, quality ratings and rejection reasons from the review authority. See them with list_templates.",
    input: z.object({ inbox_id: inboxId.optional().describe("Only this inbox") }),
    output: one(z.object({ synced: z.int(), updated: z.int(), statuses: z.record(z.string(), z.int()) })),
    hints: { idempotent: true, openWorld: true },
  }),
};
