/** The content of a template, and the template resource. */
import { z } from "zod";
import { fileAddress, timestamp, untrusted } from "../contract/index.ts";

export const templateStatuses = ["draft", "pending", "approved", "rejected", "paused", "disabled"] as const;
export const templateCategories = ["authentication", "utility", "marketing"] as const;
export const templateSorts = ["latest", "oldest", "name-asc", "name-desc"] as const;
/** Why a template of the authority is not added: a part that can't be sent, or a limit of this service. */
export const templateSkipReasons = [
  "authentication",
  "carousel",
  "limited_time_offer",
  "catalog",
  "limit",
  "unknown",
] as const;
export type TemplateSkipReason = (typeof templateSkipReasons)[number];
export type TemplateStatus = (typeof templateStatuses)[number];
export type TemplateCategory = (typeof templateCategories)[number];

export const mediaHeaderTypes = ["image", "video", "document"] as const;
export const headerTypes = ["text", ...mediaHeaderTypes, "location"] as const;
const buttonTypes = ["quick_reply", "url", "phone_number", "copy_code"] as const;
export const cardHeaderTypes = ["image", "video"] as const;
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

const isVisible = (text: string) => text.trim() !== "";
const blankMessage = "Send a text that is not blank.";

const Header = z.object({
  type: z.enum(headerTypes),
  text: z.string().min(1).max(1024).refine(isVisible, blankMessage).optional(),
  media_url: fileAddress.optional().describe("Sample: public address or storage_url"),
});

const Button = z.object({
  type: z.enum(buttonTypes),
  text: z.string().min(1).max(1024).refine(isVisible, blankMessage),
  url: z.string().max(2048).optional().describe("May end with {{1}}"),
  phone_number: z.string().max(32).optional(),
});

/** The field that each type of header or button must have besides a button's text. */
const requiredBy = {
  text: "text",
  image: "media_url",
  video: "media_url",
  document: "media_url",
  location: undefined,
  url: "url",
  phone_number: "phone_number",
  quick_reply: undefined,
  copy_code: undefined,
} as const;

/** The specification's limit. */
const maxButtons = 3;

const parts = z.object({
  body: z
    .string()
    .min(1)
    .max(1024)
    .refine(isVisible, blankMessage)
    .describe("Max 1024; variables {{1}}, {{2}} or {{name}}, with text around"),
  header: Header.optional(),
  footer: z.string().max(1024).optional(),
  buttons: z.array(Button).max(maxButtons).optional().describe("Max 3"),
  message_send_ttl_seconds: z.int().min(30).max(2_592_000).optional(),
});

/** The limits that are checked at creation. The other limits are warnings until the submission. */
export const TemplateData = parts.superRefine(({ header, buttons = [] }, context) => {
  const typed = [
    { path: ["header"], part: header },
    ...buttons.map((part, index) => ({ path: ["buttons", index], part })),
  ];
  for (const { path, part } of typed) {
    const field = part && requiredBy[part.type];
    if (part && field && !(field in part && part[field as keyof typeof part])) {
      const message = `A ${path[0] === "header" ? "header" : "button"} of type ${part.type} needs ${field}.`;
      context.addIssue({ code: "custom", path: [...path, field], message });
    }
  }
  const unused = (["text", "media_url"] as const).filter((field) => {
    return header?.[field] !== undefined && requiredBy[header.type] !== field;
  });
  for (const field of unused) {
    const message = `A header of type ${header?.type} has no ${field}: remove it.`;
    context.addIssue({ code: "custom", path: ["header", field], message });
  }
});

export const Variable = z.object({
  name: z.string().trim().min(1).max(255),
  component: z.enum(components),
  button_index: z.int32().min(0).max(2).optional().describe("Of BUTTONS, from 0"),
  example: z.string().min(1).max(1024).optional().describe("For the review"),
});

/** A button of a template here or at the authority, which alone can create buttons for forms. */
const StoredButton = Button.extend({
  type: z.enum([...buttonTypes, "form"]),
  /** Of a button that opens a form: its id at the authority. */
  flow_id: z.string().max(255).optional(),
});
export type TemplateButton = z.infer<typeof StoredButton>;

/** What WhatsApp allows: templates that were created there may have more than those of this service. */
const authorityLimits = { buttons: 10, cards: 10, cardButtons: 2 } as const;

/** The content of a template here and at the authority. */
/** What WhatsApp writes into a template for codes. */
export const Authentication = z.object({
  button: z
    .enum(["copy_code", "one_tap", "zero_tap"])
    .describe("copy_code, or for an Android app: one_tap fills the code in, zero_tap without a tap"),
  add_security_recommendation: z
    .boolean()
    .default(false)
    .describe("Whether it advises not to share the code"),
  code_expiration_minutes: z.int().min(1).max(90).optional().describe("Shown in the footer"),
  apps: z
    .array(
      z.object({
        package_name: z
          .string()
          .max(224)
          .regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/, "Send a name such as com.example.app."),
        signature_hash: z
          .string()
          .max(11)
          .regex(/^[A-Za-z0-9+/]{11}$/, "Send the 11 characters of the app's signing key hash."),
      }),
    )
    .max(5)
    .optional()
    .describe("Android apps that get the code; for one_tap and zero_tap"),
  zero_tap_terms_accepted: z
    .boolean()
    .optional()
    .describe("Needed for zero_tap: whether its terms were accepted in WhatsApp Manager"),
});
export type Authentication = z.output<typeof Authentication>;

export const StoredTemplateData = parts.extend({
  buttons: z.array(StoredButton).max(authorityLimits.buttons).optional(),
  /** Of a template for codes. */
  authentication: Authentication.optional(),
  /** Of a limited-time offer. */
  offer: z
    .object({
      text: z.string(),
      /** Whether the message shows when the offer ends. */
      has_expiration: z.boolean(),
    })
    .optional(),
  /** Of a carousel. */
  cards: z
    .array(
      z.object({
        header: Header.pick({ media_url: true }).extend({ type: z.enum(cardHeaderTypes) }),
        body: z.string().optional(),
        buttons: z.array(StoredButton).max(authorityLimits.cardButtons).optional(),
      }),
    )
    .max(authorityLimits.cards)
    .optional(),
});
export type TemplateData = z.infer<typeof StoredTemplateData>;

export const StoredVariable = Variable.extend({
  component: z.enum([...components, "OFFER", "CARD_HEADER", "CARD_BODY", "CARD_BUTTONS"]),
  /** Of the template, or of the card. */
  button_index: z
    .int32()
    .min(0)
    .max(authorityLimits.buttons - 1)
    .optional(),
  card_index: z
    .int32()
    .min(0)
    .max(authorityLimits.cards - 1)
    .optional(),
});
export type Variable = z.infer<typeof StoredVariable>;

/** The parts that only templates of the authority have; empty for a template that can be changed here. */
export function readOnlyParts({
  buttons = [],
  offer,
  cards,
  authentication,
}: TemplateData): readonly string[] {
  return [
    ...(authentication ? ["a text of WhatsApp's for codes"] : []),
    ...(buttons.length > maxButtons ? [`${buttons.length} buttons`] : []),
    ...(buttons.some(({ type }) => type === "form") ? ["a button for a form"] : []),
    ...(offer ? ["a limited-time offer"] : []),
    ...(cards ? ["a carousel"] : []),
  ];
}

/**
 * Something that the review authority rejects, or needs to know. A submission fails because of it, unless it
 * is advice.
 */
export const TemplateWarning = z.object({ code: z.string(), field: z.string(), message: z.string() });
export type TemplateWarning = z.infer<typeof TemplateWarning>;

export const Template = z.object({
  id: z.string(),
  name: z.string(),
  channel: z.string(),
  category: z.enum(templateCategories),
  language: z.string(),
  inbox_id: z.string(),
  status: z.enum(templateStatuses),
  /** Whether the template can be sent now. An approved version stays in use while a draft changes it. */
  is_sendable: z.boolean(),
  template_data: StoredTemplateData,
  variables: z.array(StoredVariable),
  /** Whether it has parts that only WhatsApp Manager can change, such as a carousel. */
  is_read_only: z.boolean(),
  warnings: z.array(TemplateWarning),
  quality_rating: z.string().nullable(),
  /** Why the authority rejected the template; null otherwise. */
  rejection_reason: untrusted(z.string()).nullable(),
  /** The authority's own value for the status; null before the first submission. */
  raw_status: z.string().nullable(),
  /** Whether the authority no longer has the template. */
  missing_at_authority: z.boolean(),
  external_id: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});
