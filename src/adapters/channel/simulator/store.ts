/** What the simulated channel keeps, and the small store that keeps it: the world outside our house, so it outlives us. */
import type { Receipt } from "../../../ports/channel.ts";

/** How far a message has come on the phone's side; receipts only tell of it, and may be lost. */
export type LedgerStatus = "accepted" | "sent" | "delivered" | "read" | "failed" | "received";

export interface LedgerMessage {
  readonly organization_id: string;
  /** The channel's own id of the message. */
  readonly id: string;
  /** The sender's token; a message that was sent twice stands here twice. Inbound: the id again. */
  readonly token: string;
  /** The contact's number in E.164 form, or the id of one who hides it, whichever way the message went. */
  readonly phone_number: string;
  readonly direction: "outbound" | "inbound";
  /** The type, and beside it what was sent under the name that the port gives it. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly status: LedgerStatus;
  readonly created_at: string;
}

/** A step of a message, due at some time. The step is always taken; `isTold` says whether we hear of it. */
export interface DueReceipt extends Receipt {
  readonly isTold: boolean;
}

/** A due receipt as durable work. */
export interface ReceiptJob {
  readonly name: "simulator.receipt";
  readonly organization_id: string;
  /** Receipts of one key are delivered one at a time, in the order in which they were promised. */
  readonly key?: string;
  readonly runAt: Date;
  readonly payload: DueReceipt;
}

export interface SimulatorStore {
  /** A new message id; ids made later sort later. */
  newId(now: Date): string;
  /** Adds a message that we sent, and promises its receipts, both or neither. */
  accept(message: LedgerMessage, receipts: readonly ReceiptJob[]): Promise<void>;
  /** Adds a message that a contact sent, unless its id is there already; answers the one that is there. */
  receive(message: LedgerMessage): Promise<LedgerMessage>;
  /** Moves a message to `status` if it stands at one of `from`. */
  advance(
    message: Pick<LedgerMessage, "organization_id" | "id" | "status">,
    from: readonly LedgerStatus[],
  ): Promise<void>;
  /** Marks what was delivered to a phone as read, and promises the receipts that `promise` makes of it. */
  read(
    organization_id: string,
    phone_number: string,
    promise: (messages: readonly LedgerMessage[]) => readonly ReceiptJob[],
  ): Promise<number>;
  /** The first message that was sent with this token. */
  find(organization_id: string, token: string): Promise<LedgerMessage | null>;
  /** A phone's messages, newest first, and how many there are in all. */
  list(
    organization_id: string,
    phone_number: string,
    limit: number,
  ): Promise<{ messages: readonly LedgerMessage[]; total: number }>;
  /** What `replaceFaults` was given; null when it never was. */
  faults(organization_id: string): Promise<unknown>;
  replaceFaults(organization_id: string, faults: Readonly<Record<string, unknown>>): Promise<void>;
}
