/** The content of an outbound message, by its type. */
import { z } from "zod";
import {
  describedForTools,
  fileAddress,
  inboxId,
  jsonObject,
  limitedObject,
  recipient,
} from "../contract/index.ts";
import { templateLanguage, templateName } from "../templates/index.ts";
import { SentCard, SentLocation } from "./cards.ts";
import { Interactive } from "./interactive.ts";
import { messageTypes } from "./message.ts";

export const body = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => text.trim() !== "", "Send a text that is not blank.")
  .describe("At most 4096");
export const media_url = fileAddress.describe("Public address, or an upload's storage_url");
export const caption = z.string().max(1024).optional().describe("At most 1024");
export const file_name = z.string().max(240).optional().describe("Name shown for a document");

/** WhatsApp plays a voice message in the conversation, and shows other audio as a file. */
export const voice = z.literal(true).optional().describe("Only for audio/ogg with Opus: as a voice message");

export const inbox_id = describedForTools(
  inboxId.optional().describe("Inbox id, from whoami; by default that of the latest message"),
  "Inbox id; default: the latest message's",
);

export const reply_to = z.string().max(64).optional().describe("Message id to quote");

/** Fewer than an HTTP proxy waits for an answer. */
const maxWaitSeconds = 10;

export const wait_seconds = z
  .int()
  .min(0)
  .max(maxWaitSeconds)
  .optional()
  .describe("Seconds to wait for delivery");

const components = z
  .array(jsonObject)
  .max(10)
  .optional()
  .describe('Instead of variables: [{"type":"body","parameters":[{"type":"text","text":"Ann"}]}]');

/** More variables than a template can have. */
const maxVariables = 100;

/** The values of a template's variables, in the simple form. */
export const templateValues = {
  variables: describedForTools(
    limitedObject(
      (value) => Object.keys(value ?? {}).length <= maxVariables,
      `At most ${maxVariables} variables.`,
      z.record(z.string().max(255), z.string().min(1).max(1024)),
    )
      .optional()
      .describe(
        'Value of each variable by its name, or by its number in the body: {"1":"Ann"}. The names are in get_template',
      ),
    "By name, or by number in the body; get_template has the names",
  ),
  header_media_url: fileAddress.optional().describe("For a media header; default: its sample"),
};

export const TemplateContent = z.object({
  name: templateName.describe("Its name"),
  language: templateLanguage.describe("Its language, like en_US"),
  components,
  ...templateValues,
});
export type TemplateContent = z.output<typeof TemplateContent>;

interface FileLabels {
  readonly caption?: string | undefined;
  readonly file_name?: string | undefined;
  readonly voice?: true | undefined;
}

/** The file of a message, in whichever form it was sent. `field` has the address. */
export function mediaOf(
  message: FileLabels & {
    readonly media_url?: string | undefined;
    readonly media?: (FileLabels & { readonly url: string }) | undefined;
  },
) {
  const { url, caption, file_name, voice } = message.media ?? { ...message, url: message.media_url };
  return { url, caption, file_name, voice, field: message.media ? "media.url" : "media_url" };
}

/** The field that contains the content of each type. */
const contentOf = {
  text: "text",
  template: "template",
  interactive: "interactive",
  location: "location",
  contacts: "contacts",
} as const;

/** As many as WhatsApp accepts. */
const maxCards = 5;

export const NewMessage = z
  .object({
    to: recipient,
    type: z.enum(messageTypes).describe("Type of the message"),
    text: z
      .object({
        body,
        preview_url: z
          .boolean()
          .optional()
          .describe("Whether to show a preview of the first address in body"),
      })
      .optional()
      .describe("For type text"),
    template: TemplateContent.optional().describe("For type template"),
    media_url: media_url
      .optional()
      .describe(
        "For image, video, document, audio and sticker (WebP): public address of the file, or an upload's storage_url",
      ),
    caption,
    file_name,
    voice,
    media: z
      .object({ url: fileAddress, caption, file_name, voice })
      .optional()
      .describe(
        "Instead of media_url, caption, file_name and voice: the form in which a message is returned",
      ),
    interactive: Interactive.optional().describe("For type interactive"),
    location: SentLocation.optional().describe("For type location"),
    contacts: z.array(SentCard).min(1).max(maxCards).optional().describe("For type contacts: contact cards"),
    inbox_id,
    reply_to,
    wait_seconds,
  })
  .superRefine((message, context) => {
    const { caption, voice } = mediaOf(message);
    const within = message.media ? ["media"] : [];
    if ((message.type === "audio" || message.type === "sticker") && caption !== undefined) {
      const text = message.type === "audio" ? "Audio has no caption." : "A sticker has no caption.";
      context.addIssue({ code: "custom", path: [...within, "caption"], message: text });
    }
    if (voice && message.type !== "audio") {
      const text = "Send voice only with type audio.";
      context.addIssue({ code: "custom", path: [...within, "voice"], message: text });
    }
    const other = (["media_url", "caption", "file_name", "voice"] as const).find(
      (name) => message[name] !== undefined,
    );
    if (message.media !== undefined && other !== undefined) {
      const text = "Send either media, or media_url with caption, file_name and voice.";
      context.addIssue({ code: "custom", path: [other], message: text });
    }
    const { components, variables, header_media_url } = message.template ?? {};
    if (components !== undefined && (variables !== undefined || header_media_url !== undefined)) {
      const text = "Send either components, or variables and header_media_url.";
      context.addIssue({ code: "custom", path: ["template", "components"], message: text });
    }
    const needed = message.type in contentOf ? (message.type as keyof typeof contentOf) : "media_url";
    const isMissing = needed === "media_url" ? !mediaOf(message).url : message[needed] === undefined;
    if (isMissing) {
      context.addIssue({
        code: "custom",
        path: [needed],
        message: `A message of type ${message.type} needs ${needed}.`,
      });
    }
  });
