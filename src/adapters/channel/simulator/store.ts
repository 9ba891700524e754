/** The types that the simulated channel stores, and the interface of its store. */
import { z } from "zod";
import type { JobType } from "../../../jobs/job.ts";
import type { Receipt } from "../../../ports/channel/channel.ts";
import { reasonOf } from "../failure-reasons.ts";

/** The status of a message on the phone; receipts only report it, and may be lost. */
export const ledgerStatuses = ["accepted", "sent", "delivered", "read", "failed", "received"] as const;
export type LedgerStatus = (typeof ledgerStatuses)[number];

export interface LedgerMessage {
  readonly organization_id: string;
  /** The channel's id of the message. */
  readonly id: string;
  /** The sender's token; a message that was sent twice is here twice. Inbound: the id again. */
  readonly token: string;
  /** The contact's number in E.164 form, or the id of a contact who hides it, in both directions. */
  readonly phone_number: string;
  readonly direction: "outbound" | "inbound";
  /** The type and the content, in the form of the channel port. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly status: LedgerStatus;
  readonly created_at: string;
}

/** A step of a message, due at a given time. */
export interface DueReceipt extends Receipt {
  /** Whether a receipt is sent; the step happens anyway. The name is stored in the payload of jobs. */
  readonly isTold: boolean;
}

const DueReceipt: z.ZodType<DueReceipt> = z.object({
  organization_id: z.string(),
  channel_message_id: z.string(),
  token: z.string().nullable(),
  type: z.enum(["sent", "delivered", "read", "failed"]),
  occurred_at: z.string(),
  failure: z
    .object({ channel_code: z.number().nullable(), title: z.string(), detail: z.string().nullable() })
    // Not from the stored receipt: earlier versions stored no reason.
    .transform((failure) => ({ reason: reasonOf(failure.channel_code), ...failure }))
    .nullable(),
  // Receipts that an earlier version scheduled have none.
  pricing: z.object({ category: z.string().nullable(), is_free: z.boolean() }).nullish(),
  isTold: z.boolean(),
});

/** The kind of job that delivers a due receipt. */
export const receiptJobType: JobType<DueReceipt> = { name: "simulator.receipt", payload: DueReceipt };

/** Receipts of broadcast messages of one organization that were accepted together and are due together. */
export interface DueReceipts {
  readonly organization_id: string;
  readonly receipts: readonly DueReceipt[];
}

const DueReceipts: z.ZodType<DueReceipts> = z.object({
  organization_id: z.string(),
  receipts: z.array(DueReceipt),
});

/** The kind of job that delivers them. */
export const receiptsJobType: JobType<DueReceipts> = { name: "simulator.receipts", payload: DueReceipts };

/** A due receipt as a job. */
export type ReceiptJob = {
  readonly runAt: Date;
  readonly payload: DueReceipt;
} & (
  | {
      /** Receipts of one key are delivered one at a time, in the order in which they were enqueued. */
      readonly key?: string;
      readonly priority?: "normal";
    }
  /** The receipt of a broadcast message: it is delivered after the receipts of other messages. */
  | { readonly priority: "bulk"; readonly key?: undefined }
);

export interface SimulatorStore {
  /** A new message id; later ids sort after earlier ones. */
  newId(now: Date): string;
  /** Adds an outbound message and enqueues its receipts, in one transaction. */
  accept(message: LedgerMessage, receipts: readonly ReceiptJob[]): Promise<void>;
  /** Adds an inbound message unless its id exists. @returns the stored message with this id. */
  receive(message: LedgerMessage): Promise<LedgerMessage>;
  /** Sets the status of a message if it is now one of `from`. */
  advance(
    message: Pick<LedgerMessage, "organization_id" | "id" | "status">,
    from: readonly LedgerStatus[],
  ): Promise<void>;
  /**
   * Marks the delivered messages of a phone as read and enqueues their receipts.
   * @returns how many there were.
   */
  read(
    organization_id: string,
    phone_number: string,
    createReceipts: (messages: readonly LedgerMessage[]) => readonly ReceiptJob[],
  ): Promise<number>;
  /** The first message that was sent with this token. */
  find(organization_id: string, token: string): Promise<LedgerMessage | null>;
  /** The messages of a phone, newest first, and their total number. */
  list(
    organization_id: string,
    phone_number: string,
    limit: number,
  ): Promise<{ messages: readonly LedgerMessage[]; total: number }>;
  /** The stored faults; null if none were ever set. */
  faults(organization_id: string): Promise<unknown>;
  replaceFaults(organization_id: string, faults: Readonly<Record<string, unknown>>): Promise<void>;
}
