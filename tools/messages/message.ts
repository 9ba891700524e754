/** The message resource. */
import { z } from "zod";
import { Actor, timestamp, untrusted } from "../contract/index.ts";

export const messageTypes = [
  "text",
  "image",
  "video",
  "document",
  "audio",
  "template",
  "interactive",
] as const;
export const mediaTypes = ["image", "video", "document", "audio"] as const;
export const messageStatuses = ["queued", "sent", "delivered", "read", "failed", "received"] as const;

export const MessageError = z.object({
  code: z.string(),
  channel_code: z.int().nullable(),
  title: z.string(),
  detail: z.string().nullable(),
  retryable: z.boolean(),
  hint: z.string(),
});

export const Message = z.object({
  id: z.string(),
  conversation_id: z.string(),
  direction: z.enum(["outbound", "inbound"]),
  from: z.string().nullable(),
  to: z.string().nullable(),
  type: z.enum(messageTypes),
  text: untrusted(z.object({ body: z.string() })).nullable(),
  media: untrusted(
    z.object({ url: z.string(), caption: z.string().nullable(), file_name: z.string().nullable() }),
  ).nullable(),
  interactive: z.record(z.string(), z.unknown()).nullable(),
  reply: untrusted(z.object({ id: z.string(), title: z.string() })).nullable(),
  status: z.enum(messageStatuses),
  /** Who sent it; null for inbound messages and in older records. */
  sent_by: Actor.nullable(),
  error: MessageError.nullable(),
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
  reply: true,
  status: true,
  sent_by: true,
  error: true,
  created_at: true,
});
