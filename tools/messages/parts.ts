/** The parts of a message's content, and the parts that each type of message from a contact has. */
import { z } from "zod";

export const mediaTypes = ["image", "video", "document", "audio"] as const;

export const TextPart = z.object({ body: z.string() });

export const MediaPart = z.object({
  url: z.string(),
  caption: z.string().nullable(),
  file_name: z.string().nullable(),
});

/** The button or the row that a contact chose. */
export const ReplyPart = z.object({ id: z.string(), title: z.string() });

/** The channel's name for a type that this service does not support, such as a location. */
export const UnsupportedPart = z.object({ type: z.string() });

/** The content of a message from a contact. */
export const ReceivedContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: TextPart }),
  z.object({ type: z.enum(mediaTypes), media: MediaPart }),
  z.object({ type: z.literal("interactive"), reply: ReplyPart }),
  z.object({ type: z.literal("unsupported"), unsupported: UnsupportedPart }),
]);
export type ReceivedContent = z.output<typeof ReceivedContent>;
