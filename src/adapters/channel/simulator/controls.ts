/** Controls of the simulated channel: send inbound messages, tap buttons, read messages, inject faults. */
import type { z } from "zod";
import type { ChannelCallbacks, MessageChange } from "../../../ports/channel/channel.ts";
import type { ReceivedContent } from "../../../ports/channel/message-content.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { WhatsAppIdentities } from "../capabilities.ts";
import { findChoice, type ReplyChoice } from "./choices.ts";
import { Faults } from "./faults.ts";
import { ControlInputError } from "./input-error.ts";
import { scheduleReadReceipts } from "./receipts.ts";
import type { LedgerMessage, SimulatorStore } from "./store.ts";

/** E.164, as `phone`, and the other identities. */
export type SimulatedPerson = WhatsAppIdentities & { readonly phone?: string | null | undefined };

/** A message from a contact. */
export interface ContactMessage {
  readonly organization_id: string;
  /** The contact has a number, an id or both. */
  readonly from: SimulatedPerson;
  /** The inbox's number, E.164; by default the organization's first inbox. */
  readonly to?: string | undefined;
  readonly name?: string | null | undefined;
  readonly content: ReceivedContent;
  /** The channel's id of the message that it quotes. */
  readonly reply_to?: string | undefined;
  /** A repeat with the same id is the same message; by default every message is a new one. */
  readonly channel_message_id?: string | undefined;
}

/** What a contact does with an earlier message. */
export type ContactChange = Omit<MessageChange, "channel" | "change_id" | "occurred_at"> &
  Partial<Pick<MessageChange, "change_id">>;

export interface InboundResult {
  readonly message_id: string;
  readonly conversation_id: string;
  readonly channel_message_id: string;
}

export interface MessagePage {
  /** Newest first. */
  readonly messages: readonly LedgerMessage[];
  /** Number of messages on the phone. */
  readonly total: number;
}

export interface SimulatorControls {
  /** Delivers a message from a contact to an inbox of the organization. */
  receiveInbound(message: ContactMessage): Promise<InboundResult>;
  /** Delivers what a contact does with an earlier message. */
  receiveChange(change: ContactChange): Promise<InboundResult>;
  /** Marks all delivered messages as read. @returns how many there were. */
  readMessages(organization_id: string, phone_number: string): Promise<number>;
  /** The messages on the phone, in both directions; `limit` is 50 by default. */
  listMessages(
    organization_id: string,
    phone_number: string,
    options?: { readonly limit?: number },
  ): Promise<MessagePage>;
  /** The button or list row with this id or title, from the newest message that has it. */
  findChoice(organization_id: string, phone_number: string, button: string): Promise<ReplyChoice>;
  getFaults(organization_id: string): Promise<Faults>;
  /** Replaces all faults; missing ones get their defaults. */
  replaceFaults(organization_id: string, faults: z.input<typeof Faults>): Promise<Faults>;
}

export interface ControlOptions {
  readonly store: SimulatorStore;
  readonly callbacks: ChannelCallbacks;
  readonly now: Clock;
}

/** How many of the newest messages are searched for a button. */
const choiceSearchLimit = 100;

export function createControls(options: ControlOptions): SimulatorControls {
  const { store, now } = options;

  return {
    receiveInbound: (message) => receiveInbound(options, message),
    receiveChange: (change) => receiveChange(options, change),

    async readMessages(organization_id, phone_number) {
      const faults = await readFaults(store, organization_id);
      const at = now();
      return store.read(organization_id, phone_number, (messages) =>
        messages.flatMap((message) => scheduleReadReceipts(message, faults, at)),
      );
    },

    listMessages: (organization_id, phone_number, { limit = 50 } = {}) =>
      store.list(organization_id, phone_number, limit),

    async findChoice(organization_id, phone_number, button) {
      const { messages } = await store.list(organization_id, phone_number, choiceSearchLimit);
      return findChoice(messages, button);
    },

    getFaults: (organization_id) => readFaults(store, organization_id),

    async replaceFaults(organization_id, input) {
      const faults = Faults.parse(input);
      await store.replaceFaults(organization_id, faults);
      return faults;
    },
  };
}

async function readFaults(store: SimulatorStore, organization_id: string): Promise<Faults> {
  return Faults.parse((await store.faults(organization_id)) ?? {});
}

async function receiveInbound(
  { store, callbacks, now }: ControlOptions,
  message: ContactMessage,
): Promise<InboundResult> {
  const { organization_id, from, to = null, name = null, content, reply_to } = message;
  const phone_number = from.phone ?? from.bsuid;
  if (!phone_number) {
    throw new ControlInputError("from", "Send from, user_id or both.");
  }
  const at = now();
  const id = message.channel_message_id ?? store.newId(at);
  const stored = await store.receive({
    organization_id,
    id,
    token: id,
    phone_number,
    direction: "inbound",
    content: { ...content, ...(reply_to === undefined ? {} : { reply_to }) },
    status: "received",
    created_at: at.toISOString(),
  });
  if (stored.direction !== "inbound" || stored.phone_number !== phone_number) {
    throw new ControlInputError(
      "channel_message_id",
      `${id} is the id of another message. Choose a new one.`,
    );
  }
  const received = await callbacks.onMessage({
    organization_id,
    channel: "simulator",
    channel_message_id: id,
    from,
    to,
    name,
    occurred_at: stored.created_at,
    reply_to,
    content,
  });
  return { ...received, channel_message_id: id };
}

async function receiveChange(
  { store, callbacks, now }: ControlOptions,
  { change_id, ...change }: ContactChange,
): Promise<InboundResult> {
  const at = now();
  const id = change_id ?? store.newId(at);
  const changed = await callbacks.onChange({
    ...change,
    channel: "simulator",
    change_id: id,
    occurred_at: at.toISOString(),
  });
  if (!changed) {
    throw new ControlInputError(
      "message_id",
      `There is no message with the id ${change.channel_message_id}.`,
    );
  }
  return { ...changed, channel_message_id: id };
}
