/** A message that a channel has reported, as the payload of its job. */
import { z } from "zod";
import { ReceivedContent, ReceivedDetails } from "../../../../../tools/messages/index.ts";
import { senderFields } from "../../contacts/index.ts";

export const ReportedMessage = z.object({
  organization_id: z.string(),
  inbox_id: z.string(),
  message: z.object({
    ...senderFields,
    channel_message_id: z.string(),
    is_echo: z.literal(true).optional(),
    name: z.string().nullable(),
    occurred_at: z.string(),
    reply_to: z.string().nullish(),
    content: ReceivedContent,
    file: z.object({ id: z.string(), content_type: z.string() }).nullable(),
    details: ReceivedDetails.optional(),
    /** Jobs of earlier versions have the whole message instead. */
    original: z.record(z.string(), z.unknown()).optional(),
  }),
});
export type ReportedMessage = z.output<typeof ReportedMessage>;

/** The organization that gets a report, and its inboxes: reports of other accounts are left out. */
export interface ReportReceiver {
  readonly organization_id: string;
  readonly channel: string;
  readonly received_at: string;
  readonly inboxes: readonly { readonly inbox_id: string; readonly account_id: string }[];
}
