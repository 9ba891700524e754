/** The nodes that send messages and ask questions. */
import { z } from "zod";
import { fileAddress } from "../../contract/index.ts";
import { Interactive, mediaTypes } from "../../messages/index.ts";
import { templateLanguage, templateName } from "../../templates/index.ts";
import { duration, exactlyOne, fallible, node, replyEdges, templatedText, variableName } from "./node.ts";

const text = templatedText(4096);

const media = z.strictObject({
  type: z.enum(mediaTypes),
  media_url: fileAddress,
  caption: z.string().max(1024).optional(),
  file_name: z.string().max(240).optional(),
});

/**
 * WhatsApp allows answers without a template for at most 24 hours. After a longer wait, the flow could not
 * answer with a text.
 */
const timeout = duration.default("24h");

/** How an answer is checked. */
export const answerTypes = ["text", "number", "email", "phone", "date", "choice", "regex"] as const;
export type AnswerType = (typeof answerTypes)[number];

const Validation = z
  .strictObject({
    type: z.enum(answerTypes),
    /** Limits of a number, or of the length of a text. */
    min: z.number().optional(),
    max: z.number().optional(),
    /** Only for regex. */
    pattern: z.string().min(1).max(512).optional(),
    /** Only for choice: the accepted answers; by default the titles of the buttons or rows. */
    choices: z.array(z.string().min(1).max(255)).min(1).max(100).optional(),
  })
  .refine(
    ({ type, pattern }) => (type === "regex") === (pattern !== undefined),
    "Send pattern with the type regex, and only with it.",
  )
  .refine(
    ({ min, max }) => min === undefined || max === undefined || min <= max,
    "Send a min that is not above max.",
  );
export type Validation = z.output<typeof Validation>;

/** Reads a type alone as a whole validation. */
function readType(value: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof value !== "string") {
    return value;
  }
  if (!answerTypes.some((type) => type === value)) {
    const message = `Send one of these: ${answerTypes.join(", ")}; or an object with the type and its limits.`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  return { type: value };
}

export const messageNodes = {
  /** Waits for the reply if there are button edges below the node. */
  send_message: node({
    summary:
      "Sends a message. With button edges below it, it waits 24 hours for the choice. media_url is a public address, or an upload's storage_url; interactive may have list in place of buttons, as in send_interactive_message.",
    examples: [
      { text: 'Hello {{contact.name | default: "there"}}' },
      { media: { type: "document", media_url: "https://example.com/menu.pdf", caption: "Our menu" } },
      {
        interactive: { body: "What do you need?", buttons: [{ id: "prices", title: "Prices" }] },
      },
    ],
    config: z
      .strictObject({ text: text.optional(), media: media.optional(), interactive: Interactive.optional() })
      .refine(...exactlyOne(["text", "media", "interactive"])),
    sends: true,
    edges: [...replyEdges, "error"],
  }),

  send_template: node({
    summary: "Sends an approved template. Needed where the contact may not have written for 24 hours.",
    examples: [
      { name: "order_update", language: "en_US", variables: { "1": "{{contact.name}}" } },
      { template_id: "<template id>", header_media_url: "https://example.com/photo.jpg" },
    ],
    config: z
      .strictObject({
        template_id: z.string().min(1).max(64).optional(),
        name: templateName.optional(),
        language: templateLanguage.optional(),
        variables: z.record(z.string().max(255), templatedText(1024)).optional(),
        header_media_url: fileAddress.optional(),
      })
      .refine(...exactlyOne(["template_id", "name"]))
      .refine(
        ({ name, language }) => (name === undefined) === (language === undefined),
        "Send name together with language, or template_id.",
      ),
    sends: true,
    edges: fallible,
  }),

  ask: node({
    summary:
      "Sends a question, waits for the answer, and saves it as vars.<save_as>. An answer that is not valid is asked for again; after the retries (2) the child of error is run, after the timeout (24h) that of timeout; without it the run ends.",
    examples: [
      {
        text: "What is your e-mail address?",
        save_as: "mail",
        validate: "email",
        retries: 2,
        retry_text: "Please send an address such as ada@example.com.",
        timeout: "4h",
      },
      { text: "Your order number?", save_as: "number", validate: { type: "regex", pattern: "^\\d{6}$" } },
      {
        interactive: { body: "Which size?", buttons: [{ id: "s", title: "Small" }] },
        save_as: "size",
        validate: { type: "choice" },
      },
    ],
    config: z
      .strictObject({
        text: text.optional(),
        interactive: Interactive.optional(),
        save_as: variableName.optional(),
        /** A type alone, or with its limits. */
        validate: z.preprocess(readType, Validation.optional()),
        /** How often the question is repeated after an answer that is not valid. */
        retries: z.int().min(0).max(5).default(2),
        /** Sent in place of the question after an answer that is not valid. */
        retry_text: text.optional(),
        timeout,
      })
      .refine(...exactlyOne(["text", "interactive"])),
    sends: true,
    edges: [...replyEdges, "error"],
  }),

  wait_for_reply: node({
    summary: "Waits for a message of the contact.",
    examples: [{ timeout: "24h" }],
    config: z.strictObject({ timeout }),
    edges: replyEdges,
  }),
} as const;
