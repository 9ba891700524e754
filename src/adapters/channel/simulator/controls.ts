/** What the simulated phone's owner can do: write, tap a button, read, and make the channel fail. */
import type { z } from "zod";
import type { ChannelEars, Identities, Inbound } from "../../../ports/channel.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type Choice, chosen } from "./choices.ts";
import { Faults } from "./faults.ts";
import { readReceipts } from "./receipts.ts";
import { ControlRefusal } from "./refusal.ts";
import type { LedgerMessage, SimulatorStore } from "./store.ts";

/** What a contact writes. */
export interface ContactMessage {
  readonly organization_id: string;
  /** The contact's number, E.164; null of a person who hides it and has a bsuid. */
  readonly from: string | null;
  /** The inbox's number, E.164; the organization's first inbox when left out. */
  readonly to?: string | undefined;
  readonly identities?: Identities | undefined;
  readonly name?: string | null | undefined;
  readonly content: Inbound["content"];
  /** Given: a repeat is the same message. Left out: a new one each time. */
  readonly channel_message_id?: string | undefined;
}

export interface Heard {
  readonly message_id: string;
  readonly conversation_id: string;
  readonly channel_message_id: string;
}

export interface Page {
  /** Newest first. */
  readonly messages: readonly LedgerMessage[];
  /** How many there are in all. */
  readonly total: number;
}

export interface SimulatorControls {
  /** A contact writes to an inbox of the organization. */
  inbound(message: ContactMessage): Promise<Heard>;
  /** The phone's owner reads all that was delivered; answers how many messages that were. */
  read(organization_id: string, phone_number: string): Promise<number>;
  /** What the phone shows, both directions; `limit` is 50 by default. */
  messages(
    organization_id: string,
    phone_number: string,
    options?: { readonly limit?: number },
  ): Promise<Page>;
  /** The button or list row with this id or title, from the newest message on the phone that offers it. */
  choice(organization_id: string, phone_number: string, button: string): Promise<Choice>;
  faults(organization_id: string): Promise<Faults>;
  /** Replaces all faults; those left out get their defaults. */
  replaceFaults(organization_id: string, faults: z.input<typeof Faults>): Promise<Faults>;
}

export interface ControlParts {
  readonly store: SimulatorStore;
  readonly ears: ChannelEars;
  readonly now: Clock;
}

/** How far back the owner of the phone scrolls to find a button. */
const scrolledMessages = 100;

export function createControls(parts: ControlParts): SimulatorControls {
  const { store, now } = parts;

  return {
    inbound: (message) => hear(parts, message),

    async read(organization_id, phone_number) {
      const faults = await readFaults(store, organization_id);
      const at = now();
      return store.read(organization_id, phone_number, (messages) =>
        messages.flatMap((message) => readReceipts(message, faults, at)),
      );
    },

    messages: (organization_id, phone_number, { limit = 50 } = {}) =>
      store.list(organization_id, phone_number, limit),

    async choice(organization_id, phone_number, button) {
      const { messages } = await store.list(organization_id, phone_number, scrolledMessages);
      return chosen(messages, button);
    },

    faults: (organization_id) => readFaults(store, organization_id),

    async replaceFaults(organization_id, given) {
      const faults = Faults.parse(given);
      await store.replaceFaults(organization_id, faults);
      return faults;
    },
  };
}

async function readFaults(store: SimulatorStore, organization_id: string): Promise<Faults> {
  return Faults.parse((await store.faults(organization_id)) ?? {});
}

async function hear({ store, ears, now }: ControlParts, message: ContactMessage): Promise<Heard> {
  const { organization_id, from, identities, to = null, name = null, content } = message;
  const phone_number = from ?? identities?.bsuid;
  if (!phone_number) {
    throw new ControlRefusal("from", "Send from, user_id or both.");
  }
  const at = now();
  const id = message.channel_message_id ?? store.newId(at);
  const kept = await store.receive({
    organization_id,
    id,
    token: id,
    phone_number,
    direction: "inbound",
    content,
    status: "received",
    created_at: at.toISOString(),
  });
  if (kept.direction !== "inbound" || kept.phone_number !== phone_number) {
    throw new ControlRefusal("channel_message_id", `${id} is the id of another message. Choose a new one.`);
  }
  const heard = await ears.inbound({
    organization_id,
    channel_message_id: id,
    from,
    identities,
    to,
    name,
    occurred_at: kept.created_at,
    content,
  });
  return { ...heard, channel_message_id: id };
}
