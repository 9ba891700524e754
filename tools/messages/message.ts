/** The message resource. */
import { z } from "zod";
import { Actor, timestamp, untrusted } from "../contract/index.ts";
import { mediaHeaderTypes, templateCategories } from "../templates/index.ts";
import { MediaPart, mediaTypes, ReplyPart, TextPart, UnsupportedPart } from "./parts.ts";

export const messageTypes = ["text", ...mediaTypes, "template", "interactive"] as const;
/** An inbound message may also be of a type that this service does not have, such as a location. */
export const storedTypes = [...messageTypes, "unsupported"] as const;
export const messageStatuses = ["queued", "sent", "delivered", "read", "failed", "received"] as const;

/** A template as it was sent: its texts with the values of their variables, which may come from contacts. */
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

/** Of a queued message: why it has not been sent yet. */
const Delay = z.object({
  /** How many attempts have failed. */
  attempts: z.int(),
  /** Null: the message waits for its turn, as the channel limits the messages to one person. */
  last_error: MessageError.pick({ code: true, channel_code: true, title: true, detail: true }).nullable(),
  /** Null: the channel may have accepted the message, so it is not sent again; a receipt decides. */
  next_attempt_at: timestamp.nullable(),
});

/** held: until it is delivered; settled: charged; released: it costs nothing, unless it is delivered yet. */
const Price = z.object({
  amount: z.number(),
  currency: z.string(),
  category: z.string(),
  country: z.string().nullable(),
  status: z.enum(["held", "settled", "released"]),
  /** Whether simulated money pays it. */
  simulated: z.boolean(),
});

export const Message = z.object({
  id: z.string(),
  conversation_id: z.string(),
  direction: z.enum(["outbound", "inbound"]),
  from: z.string().nullable(),
  to: z.string().nullable(),
  type: z.enum(storedTypes),
  text: untrusted(TextPart).nullable(),
  media: untrusted(MediaPart).nullable(),
  interactive: z.record(z.string(), z.unknown()).nullable(),
  template: untrusted(SentTemplate).nullable(),
  reply: untrusted(ReplyPart).nullable(),
  /** What the channel sent instead of a type of this service; `original` is kept for 7 days, and is in get_message alone. */
  unsupported: untrusted(
    UnsupportedPart.extend({ original: z.record(z.string(), z.unknown()).nullable() }),
  ).nullable(),
  /** The id of the message that it quotes; null if none, or if that one is not known here. */
  reply_to: z.string().nullable(),
  /** One of each person, the latest. */
  reactions: z.array(z.object({ emoji: untrusted(z.string()), from: z.string(), at: timestamp })),
  /** When the contact changed the text or the caption. */
  edited_at: timestamp.nullable(),
  /** When the contact deleted the message, whose content is null then. */
  deleted_at: timestamp.nullable(),
  status: z.enum(messageStatuses),
  /** Who sent it; null for inbound messages and in older records. */
  sent_by: Actor.nullable(),
  error: MessageError.nullable(),
  /** Null: the message is not queued, or has not been tried yet. */
  delay: Delay.nullable(),
  /** What it costs, by the estimate until the channel names its own; null: it has no price. */
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
  sent_by: true,
  error: true,
  delay: true,
  created_at: true,
});
