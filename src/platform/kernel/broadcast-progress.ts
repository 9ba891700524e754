/** What the delivery of a message of a broadcast reports to the broadcast. */
import type { Tables } from "../../database/schema/index.ts";

/** A new status of a message of a broadcast. */
export interface BroadcastProgress {
  readonly organization_id: string;
  readonly broadcast_id: string;
  readonly message_id: string;
  readonly before: MessageStatus;
  readonly after: MessageStatus;
  /** Of a message that failed. */
  readonly error: { readonly code: string; readonly channel_code: number | null } | null;
}

type MessageStatus = Tables["messages"]["status"];
