/** The message resource. */
import { z } from "zod";
import { RecordedActor, timestamp, untrusted } from "../contract/index.ts";
import { messageStatuses } from "../message-statuses.ts";
import { ProductPart, ReferralPart } from "../referrals.ts";
import { cardHeaderTypes, headerTypes, templateCategories } from "../templates/index.ts";
import {
  CallPart,
  CallPermissionPart,
  CardPart,
  FormPart,
  LocationPart,
  MediaPart,
  mediaTypes,
  OrderPart,
  ReceivedDetails,
  ReplyPart,
  receivedTypes,
  TextPart,
  UnsupportedPart,
} from "./parts.ts";

export const messageTypes = [
  "text",
  ...mediaTypes,
  "template",
  "interactive",
  "location",
  "contacts",
] as const;
/** A message from a contact may have other types than a sent one. */
export const storedTypes = [...receivedTypes, "template"] as const;
export const messageDirections = ["outbound", "inbound"] as const;

/** A sent template: its texts with the values of their variables, which may come from contacts. */
const SentTemplate = z.object({
  name: z.string(),
  language: z.string(),
  category: z.enum(templateCategories),
  /** A text, the file of an image, video or document, or a place. */
  header: z
    .object({
      type: z.enum(headerTypes),
      text: z.string().optional(),
      media: MediaPart.omit({ caption: true }).optional(),
      location: z
        .object({ latitude: z.number(), longitude: z.number(), name: z.string(), address: z.string() })
        .optional(),
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
      /** What a button of type copy_code copies. */
      code: z.string().optional(),
    }),
  ),
  /** Of a limited-time offer. */
  offer: z.object({ text: z.string(), expires_at: timestamp.nullable() }).optional(),
  /** Of a carousel. */
  cards: z
    .array(
      z.object({
        header: z.object({ type: z.enum(cardHeaderTypes), media: MediaPart.omit({ caption: true }) }),
        body: z.string().nullable(),
        buttons: z.array(
          z.object({
            type: z.string(),
            text: z.string(),
            url: z.string().optional(),
            phone_number: z.string().optional(),
            payload: z.string().optional(),
          }),
        ),
      }),
    )
    .optional(),
});

export const MessageError = z.object({
  code: z.string(),
  channel_code: z.int().nullable(),
  title: z.string(),
  detail: z.string().nullable(),
  retryable: z.boolean(),
  hint: z.string(),
});

/**
 * What a queued message waits for.
 *
 * - turn: the messages before it, or its own handover to the channel.
 * - limit: a limit of the person or of the number allows no more messages now.
 * - stop: the inbox can't send until its account is put right.
 * - confirmation: the channel may have accepted it. It is not sent again; a receipt decides, and after 24
 *   hours it fails as unconfirmed.
 * - file: its file is being uploaded to the channel.
 * - outage: the channel can't be reached, or says that it is not available.
 */
const waitReasons = ["turn", "limit", "stop", "confirmation", "file", "outage"] as const;

export const WaitingFor = z.object({
  reason: z.enum(waitReasons),
  since: timestamp,
  /** Null if no time is set: behind other messages, or for a confirmation. */
  next_attempt_at: timestamp.nullable(),
  /** How many attempts have failed; absent before the first one. */
  attempts: z.int().optional(),
  /** What the channel answered, or why the inbox is stopped. */
  last_error: MessageError.pick({ code: true, channel_code: true, title: true, detail: true }).optional(),
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
  interactive: untrusted(z.record(z.string(), z.unknown())).nullable(),
  template: untrusted(SentTemplate).nullable(),
  reply: untrusted(ReplyPart).nullable(),
  /** Only of these types. All but locations and contacts are received only. */
  location: untrusted(LocationPart).optional(),
  contacts: z.array(untrusted(CardPart)).optional(),
  order: untrusted(OrderPart).optional(),
  form: untrusted(FormPart).optional(),
  call_permission: CallPermissionPart.optional(),
  call: CallPart.optional(),
  /** A readable text of these types. */
  summary: untrusted(z.string()).optional(),
  unsupported: untrusted(UnsupportedPart).nullable(),
  /** Only of a received message by which a contact came from an ad or a post. */
  referral: untrusted(ReferralPart).optional(),
  /** Only of a received message about a product. */
  referred_product: untrusted(ProductPart).optional(),
  /** Only of a received message that was forwarded. */
  forwarded: ReceivedDetails.shape.forwarded,
  /** Only of a message of the time before the inbox was connected. */
  imported: ReceivedDetails.shape.imported,
  /** What the channel sent of a received message that no other member has, in the channel's own form. */
  channel_data: untrusted(z.record(z.string(), z.unknown())).optional(),
  /** Null until the channel has accepted the message. */
  channel_message_id: z.string().nullable(),
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
  /** Only of a queued message. */
  waiting_for: WaitingFor.optional(),
  /** The price by the estimate, until the channel reports its own price; null if the message has no price. */
  price: Price.nullable(),
  /** Of a received message: the time of the channel. */
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
  location: true,
  contacts: true,
  order: true,
  form: true,
  call_permission: true,
  call: true,
  summary: true,
  referral: true,
  referred_product: true,
  forwarded: true,
  imported: true,
  reply_to: true,
  reactions: true,
  edited_at: true,
  deleted_at: true,
  status: true,
  simulated: true,
  sent_by: true,
  error: true,
  waiting_for: true,
  created_at: true,
});
