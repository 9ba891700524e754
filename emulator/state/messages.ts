/** The messages in both directions, as the controls list them. */

export type MessageStatus = "sent" | "delivered" | "read" | "played" | "failed";

export interface StatusEntry {
  readonly status: MessageStatus;
  readonly at: string;
  readonly code?: number | undefined;
}

/** A message that the business sent and the emulator accepted. */
export interface SentMessage {
  readonly id: string;
  readonly phone_number_id: string;
  /** As the request has it. */
  readonly to: string;
  /** null for a message that is accepted and lost. */
  readonly user_id: string | null;
  /** The request was addressed by number, so status webhooks may have it. */
  readonly number: string | null;
  readonly type: string;
  /** The request's body. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly category: string;
  readonly received_at: number;
  readonly statuses: StatusEntry[];
  /** What its links led to. */
  readonly files: FetchedFile[];
}

/** A file that was fetched from a link; the media API has it under its id. */
export interface FetchedFile {
  readonly link: string;
  readonly media_id: string;
  readonly mime_type: string;
  readonly file_size: number;
}

/** A message from a customer. */
export interface InboundRecord {
  readonly id: string;
  readonly phone_number_id: string;
  readonly user_id: string;
  readonly type: string;
  /** As the webhook has it. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly received_at: number;
  read_at: number | null;
}

export function hasStatus(message: SentMessage, status: MessageStatus): boolean {
  return message.statuses.some((entry) => entry.status === status);
}
