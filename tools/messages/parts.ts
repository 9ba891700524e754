/** The parts of a message's content, and the parts that each type of message from a contact has. */
import { z } from "zod";
import { timestamp } from "../contract/index.ts";
import { ProductPart, ReferralPart } from "../referrals.ts";

/** The types of messages that have a file. */
export const mediaTypes = ["image", "video", "document", "audio", "sticker"] as const;

export const TextPart = z.object({ body: z.string() });

export const MediaPart = z.object({
  url: z.string(),
  caption: z.string().nullable(),
  file_name: z.string().nullable(),
  /** Only of a recording that is a voice message. */
  voice: z.literal(true).optional(),
});

export type MediaPart = z.output<typeof MediaPart>;

/** The button or the row that a contact chose. */
export const ReplyPart = z.object({ id: z.string(), title: z.string(), description: z.string().optional() });

/** In degrees. */
export const LocationPart = z.object({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().nullable(),
  address: z.string().nullable(),
  url: z.string().nullable(),
});

/** A contact card. */
export const CardPart = z.object({
  name: z.string(),
  organization: z.string().nullable(),
  phones: z.array(z.string()),
  emails: z.array(z.string()),
});

/** What a contact orders of a catalog. Prices are in units of the currency. */
export const OrderPart = z.object({
  catalog_id: z.string().nullable(),
  note: z.string().nullable(),
  items: z.array(
    z.object({
      product_id: z.string(),
      quantity: z.number(),
      price: z.number().nullable(),
      currency: z.string().nullable(),
    }),
  ),
});

/** The answers of a form, by the names of its fields. */
export const FormPart = z.object({ name: z.string().nullable(), answers: z.record(z.string(), z.unknown()) });

/** Whether a contact permits calls. */
export const CallPermissionPart = z.object({
  is_granted: z.boolean(),
  is_permanent: z.boolean(),
  expires_at: timestamp.nullable(),
});

/** A call of a contact. One that was answered is not reported. */
export const CallPart = z.object({ status: z.literal("missed") });

/** The channel's name for a type that this service does not support. */
export const UnsupportedPart = z.object({ type: z.string(), reason: z.string().optional() });

/** The content of a message from a contact. */
export const ReceivedContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: TextPart }),
  z.object({ type: z.enum(mediaTypes), media: MediaPart }),
  z.object({ type: z.literal("interactive"), reply: ReplyPart }),
  z.object({ type: z.literal("location"), location: LocationPart }),
  z.object({ type: z.literal("contacts"), contacts: z.array(CardPart) }),
  z.object({ type: z.literal("order"), order: OrderPart }),
  z.object({ type: z.literal("form"), form: FormPart }),
  z.object({ type: z.literal("call_permission"), call_permission: CallPermissionPart }),
  z.object({ type: z.literal("call"), call: CallPart }),
  z.object({ type: z.literal("unsupported"), unsupported: UnsupportedPart }),
]);
export type ReceivedContent = z.output<typeof ReceivedContent>;

export const receivedTypes = [
  "text",
  ...mediaTypes,
  "interactive",
  "location",
  "contacts",
  "order",
  "form",
  "call_permission",
  "call",
  "unsupported",
] as const satisfies readonly ReceivedContent["type"][];

/** What a message from a contact has besides its content. */
export const ReceivedDetails = z.object({
  referral: ReferralPart.optional(),
  referred_product: ProductPart.optional(),
  forwarded: z.enum(["once", "frequently"]).optional(),
  /** Of the history of the owner's phone: it was sent or received before the inbox was connected. */
  imported: z.literal(true).optional(),
  /** What the channel sent besides, in its own form. */
  channel_data: z.record(z.string(), z.unknown()).optional(),
});
export type ReceivedDetails = z.output<typeof ReceivedDetails>;
