/** The message resource. */
import { z } from "zod";
import { RecordedActor, timestamp, untrusted } from "../contract/index.ts";
import { mediaHeaderTypes, templateCategories } from "../templates/index.ts";
import { MediaPart, mediaTypes, ReplyPart, TextPart, UnsupportedPart } from "./parts.ts";

export const messageTypes = ["text", ...mediaTypes, "template", "interactive"] as const;
/** An inbound message may also have a type that this service does not support, such as a location. */
export const storedTypes = [...messageTypes, "unsupported"] as const;
export const messageDirections = ["outbound", "inbound"] as const;
export const messageStatuses = ["queued", "sent", "delivered", "read", "failed", "received"] as const;

/** A sent template: its texts with the values of their variables, which may come from contacts. */
const SentTemplate = z.object({
  name: z.string(),
  language: z.string(),
  category: z.enum(templateCategories),
  /** A text, or the file of an image, video or document. */
  header: z
    .object({
      type: z.enum(["text", ...mediaHeaderTypes]),
      text: z.string().optional(),
      media: MediaPart.omit({ caption: true }).optional(),
    })
    .nullable(),
  body: z.string(),
  footer: z.string().nullable(),
  buttons: z.array(
    z.object({
      type: z.string(),
      text: z.string(),
      url: z.string().optional(),
      phone_number: z.string().optional(),
      payload: z.string().optional(),
    }),
  ),
});

export const MessageError = z.object({
  code: z.string(),
  channel_code: z.int().nullable(),
  title: z.string(),
  detail: z.string().nullable(),
  retryable: z.boolean(),
  hint: z.string(),
});

/** For a queued message: why it has not been sent yet. */
const Delay = z.object({
  /** How many attempts have failed. */
  attempts: z.int(),
  /** Null if the message waits for its turn, because the channel limits the messages to one person. */
  last_error: MessageError.pick({ code: true, channel_code: true, title: true, detail: true }).nullable(),
  /** Null if the channel may have accepted the message, so that it is not sent again; a receipt decides. */
  next_attempt_at: timestamp.nullable(),
});

/**
 * held: until the message is delivered; settled: charged; released: the message costs nothing, unless it is
 * delivered later.
 */
const Price = z.object({
  amount: z.number(),
  currency: z.string(),
  category: z.string(),
  country: z.string().nullable(),
  status: z.enum(["held", "settled", "released"]),
  /** Whether simulated money pays the message. */
  simulated: z.boolean(),
});

/** Who sent a message, and how. */
export const MessageSender = RecordedActor.extend({
  /** The MCP tool by which an assistant sent it. */
  tool: z.string().optional(),
  /** The step of the flow. */
  node_id: z.string().optional(),
  /** What the answer of the chatbot is based on: documents with their pages, and questions of pairs. */
  sources: z.array(z.string()).optional(),
});

export const Message = z.object({
  id: z.string(),
  conversation_id: z.string(),
  direction: z.enum(messageDirections),
  from: z.string().nullable(),
  to: z.string().nullable(),
  type: z.enum(storedTypes),
  text: untrusted(TextPart).nullable(),
  media: untrusted(MediaPart).nullable(),
  interactive: z.record(z.string(), z.unknown()).nullable(),
  template: untrusted(SentTemplate).nullable(),
  reply: untrusted(ReplyPart).nullable(),
  /**
   * The channel's content of an unsupported type. `original` is kept for 7 days, and only get_message shows
   * it.
   */
  unsupported: untrusted(
    UnsupportedPart.extend({ original: z.record(z.string(), z.unknown()).nullable() }),
  ).nullable(),
  /**
   * The id of the quoted message; null if the message quotes none, or the quoted message is not known here.
   */
  reply_to: z.string().nullable(),
  /** The latest reaction of each person. */
  reactions: z.array(z.object({ emoji: untrusted(z.string()), from: z.string(), at: timestamp })),
  /** When the contact changed the text or the caption. */
  edited_at: timestamp.nullable(),
  /** When the contact deleted the message; its content is then null. */
  deleted_at: timestamp.nullable(),
  status: z.enum(messageStatuses),
  /** Present only in a simulated inbox: no real phone has the message. */
  simulated: z.literal(true).optional(),
  /** Who sent the message; null for inbound messages and in older records. */
  sent_by: MessageSender.nullable(),
  error: MessageError.nullable(),
  /** Null if the message is not queued, or has not been tried yet. */
  delay: Delay.nullable(),
  /** The price by the estimate, until the channel reports its own price; null if the message has no price. */
  price: Price.nullable(),
  sent_at: timestamp.nullable(),
  delivered_at: timestamp.nullable(),
  read_at: timestamp.nullable(),
  failed_at: timestamp.nullable(),
  created_at: timestamp,
});

/** A message in a list. */
export const ListedMessage = Message.pick({
  id: true,
  conversation_id: true,
  direction: true,
  type: true,
  text: true,
  media: true,
  interactive: true,
  template: true,
  reply: true,
  reply_to: true,
  reactions: true,
  edited_at: true,
  deleted_at: true,
  status: true,
  simulated: true,
  sent_by: true,
  error: true,
  delay: true,
  created_at: true,
});
