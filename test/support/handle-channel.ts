/**
 * A channel that differs from the others in everything: persons have handles such as @ana and no phone
 * numbers, there is no window, there are no receipts, no files and no choices, and the provider does not
 * report what it receives but is asked for it. It shows what a new channel consists of: this adapter, and its
 * name and its credentials in the contract.
 */
import { z } from "zod";
import type { AddressKind } from "../../src/ports/channel/address.ts";
import type { ChannelCapabilities } from "../../src/ports/channel/capabilities.ts";
import type {
  AccountMessage,
  Channel,
  ChannelFailure,
  ChannelProvider,
  OutboundMessage,
} from "../../src/ports/channel/channel.ts";

export const channelName = "handles";

/** The right credentials of the account @shop. */
export const shopCredentials = { handle: "@shop", token: "token-of-shop" };

export const HandleCredentials = z.object({ handle: z.string(), token: z.string() });

const handles: AddressKind = { kind: "handle", pattern: /^@[a-z][a-z0-9_]{1,30}$/, isOpen: false };

const capabilities: ChannelCapabilities = {
  platform: "handles",
  isSimulated: false,
  addresses: [handles],
  hasWindow: false,
  hasReceipts: false,
  changes: [],
  media: {},
  fetchesFiles: false,
  interactive: null,
  extras: [],
  rate: { messagesPerSecond: null, perPerson: null },
  isPriced: false,
};

const pageSize = 2;
export const pollIntervalMs = 5_000;

/** The channel, and the provider behind it. */
export interface HandleChannel {
  readonly channel: Channel;
  /** A person writes to @shop. */
  write(from: string, text: string): void;
  /** What was sent, oldest first. */
  readonly sent: OutboundMessage[];
  /** The cursors of all requests for updates. */
  readonly polls: (string | null)[];
  /** What the provider does from now on. */
  readonly faults: { failure: ChannelFailure | null; isDown: boolean; repeatsPages: boolean };
}

export function openHandleChannel(now: () => Date): HandleChannel {
  const received: AccountMessage[] = [];
  const sent: OutboundMessage[] = [];
  const polls: (string | null)[] = [];
  const faults: HandleChannel["faults"] = { failure: null, isDown: false, repeatsPages: false };

  const polling: ChannelProvider["polling"] = {
    intervalMs: pollIntervalMs,
    async readUpdates(_, cursor) {
      polls.push(cursor);
      if (faults.isDown) {
        throw new Error("The provider is down.");
      }
      const start = Math.max(Number(cursor ?? 0) - (faults.repeatsPages ? pageSize : 0), 0);
      const end = Math.min(start + pageSize, received.length);
      return {
        updates: { messages: received.slice(start, end) },
        cursor: String(Math.max(end, Number(cursor ?? 0))),
        hasMore: !faults.repeatsPages && end < received.length,
      };
    },
  };

  return {
    sent,
    polls,
    faults,
    write(from, text) {
      received.push({
        account_id: shopCredentials.handle,
        channel_message_id: `received_${received.length + 1}`,
        from: { [handles.kind]: from },
        name: null,
        occurred_at: now().toISOString(),
        content: { type: "text", text: { body: text } },
        file: null,
      });
    },
    channel: {
      capabilities,
      async send(message, { startNow, requireClaim }) {
        await startNow();
        requireClaim();
        if (faults.failure) {
          return { outcome: "refused", failure: faults.failure };
        }
        sent.push(message);
        return { outcome: "accepted", channel_message_id: `sent_${sent.length}` };
      },
      find: async () => ({ outcome: "unknown" }),
      async check({ account }) {
        const { token } = HandleCredentials.parse(account?.credentials);
        return token === shopCredentials.token
          ? { outcome: "working", limits: null }
          : { outcome: "refused", field: "token", reason: "it is wrong." };
      },
      provider: { ...accounts, polling },
    },
  };
}

const accounts: ChannelProvider = {
  readAccount(given) {
    const { data: credentials } = HandleCredentials.safeParse(given);
    if (!credentials) {
      return { outcome: "invalid", field: "token", reason: "it is missing." };
    }
    const { handle } = credentials;
    const ids = { account_id: handle, business_id: handle, app_id: handle };
    return { outcome: "read", account: { ...ids, credentials } };
  },
  async connect({ account, address }) {
    const { handle, token } = HandleCredentials.parse(account.credentials);
    if (token !== shopCredentials.token) {
      return { outcome: "refused", field: "token", reason: "it is wrong." };
    }
    return handle === address
      ? { outcome: "connected" }
      : { outcome: "refused", field: "handle", reason: "it is not the inbox's." };
  },
  readLimits: async () => undefined,
  fetchFile: async () => undefined,
};
