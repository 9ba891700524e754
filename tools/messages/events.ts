/** The events of messages, with the shape of their data. */
import { z } from "zod";
import { timestamp } from "../contract/index.ts";
import { MessageError, messageStatuses, messageTypes } from "./message.ts";

const Received = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  from: z.string(),
  type: z.enum(messageTypes),
  text: z.object({ body: z.string() }).optional(),
});

const Progress = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  to: z.string(),
  type: z.enum(messageTypes),
  status: z.enum(messageStatuses),
  timestamp,
  /** Increases with each event of one message, so that receivers can order them. */
  sequence: z.int(),
  error: MessageError.optional(),
});

export const messageEvents = {
  "message.received": Received,
  "message.sent": Progress,
  "message.delivered": Progress,
  "message.read": Progress,
  "message.failed": Progress,
} as const;
