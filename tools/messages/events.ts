/** The events of messages, with the shape of their data and the scope that reads them. */
import { z } from "zod";
import { timestamp } from "../contract/index.ts";
import { messageStatuses } from "../message-statuses.ts";
import { MessageError, storedTypes } from "./message.ts";
import {
  CallPart,
  CallPermissionPart,
  CardPart,
  FormPart,
  LocationPart,
  OrderPart,
  ReceivedDetails,
  ReplyPart,
  TextPart,
} from "./parts.ts";

const MessageOfContact = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  from: z.string(),
  type: z.enum(storedTypes),
  text: TextPart.optional(),
});

/** The link to a file expires: get_message has it. */
const ReceivedMessage = MessageOfContact.extend({
  reply: ReplyPart.optional(),
  location: LocationPart.optional(),
  contacts: z.array(CardPart).optional(),
  order: OrderPart.optional(),
  form: FormPart.optional(),
  call_permission: CallPermissionPart.optional(),
  call: CallPart.optional(),
  ...ReceivedDetails.omit({ channel_data: true, imported: true }).shape,
});

const Reaction = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  from: z.string(),
  /** Null if the reaction was removed. */
  emoji: z.string().nullable(),
  timestamp,
});

const EditedMessage = MessageOfContact.extend({
  edited_at: timestamp.nullable(),
  deleted_at: timestamp.nullable(),
});

const Progress = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  to: z.string(),
  type: z.enum(storedTypes),
  /** Only for a message of type template. */
  template_name: z.string().optional(),
  /** Only for a message of a broadcast. */
  broadcast_id: z.string().optional(),
  status: z.enum(messageStatuses),
  timestamp,
  /** Increases with each event of one message, so that receivers can order them. */
  sequence: z.int(),
  error: MessageError.optional(),
});

export const messageEvents = {
  "message.received": { scope: "inbox:read", data: ReceivedMessage },
  "message.sent": { scope: "inbox:read", data: Progress },
  "message.delivered": { scope: "inbox:read", data: Progress },
  "message.read": { scope: "inbox:read", data: Progress },
  "message.failed": { scope: "inbox:read", data: Progress },
  "message.reaction": { scope: "inbox:read", data: Reaction },
  "message.edited": { scope: "inbox:read", data: EditedMessage },
} as const;
