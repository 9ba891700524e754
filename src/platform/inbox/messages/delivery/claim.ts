/**
 * Claims queued messages for sending, many together, and stores the outcome of each.
 *
 * A claim is committed, with its time, before the channel is called. Together with the channel's look-up it
 * makes the delivery at-most-once.
 */
import { sql } from "kysely";
import { columnOf, columnsOf, matchesKey, recordset } from "../../../../database/query/index.ts";
import type { ReportedFailure, SealedText } from "../../../../database/schema/index.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { ChannelAccount } from "../../../../ports/channel/account.ts";
import { openAccount, pausedUntil, windowRuleOf } from "../../../account/inboxes/index.ts";
import { shareTransactions, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { windowOf } from "../../conversations/index.ts";
import {
  applyUpdates,
  type LockedMessage,
  lockMessages,
  type MessageRow,
  type StatusUpdate,
  takeParkedUpdates,
} from "../progress/index.ts";
import { type DeliveryError, internalFailures } from "../wording/index.ts";
import { createQuotas, type PersonQuotas, personRateOf } from "./person-quota.ts";
import { type MessageName, maxWaitMs, readUnsent, type UnsentMessage } from "./unsent.ts";

/** From the claim to the end of the send. Well below the job's lease. */
export const sendTimeoutMs = 10_000;
/**
 * From the claim until the send has certainly ended. Longer than the timeout, because the clocks of two
 * machines differ.
 */
export const sendEndedMs = sendTimeoutMs + 2_000;

interface ClaimRequest extends MessageName {
  /** The attempt before did not end: its process died, or was blocked and may still be sending. */
  readonly isTakeover: boolean;
}

/** A message with what the channel needs. This attempt has claimed it. */
export interface ClaimedMessage {
  /** The channel's name. */
  readonly channel: string;
  readonly message: MessageRow;
  readonly inbox_id: string;
  /** The channel's id of the message that it quotes. */
  readonly quotedId: string | null;
  /** The inbox's number. */
  readonly from: string;
  /** Undefined on the simulated channel, or if the inbox has lost its account. */
  readonly account: ChannelAccount | undefined;
  /** The secrets of the account, as they are stored; null without an account. */
  readonly secrets: SealedText | null;
  /** Whether the inbox has a recorded failure, which a successful send removes. */
  readonly wasStopped: boolean;
  /**
   * When this attempt claimed the message. While this time is stored, no other attempt has claimed the
   * message.
   */
  readonly claimedAt: string;
}

/** What an attempt may do with a message. */
export type MessageClaim =
  /**
   * Nothing yet: the message is not claimed. The inbox is stopped by `failure`, or the person has had as
   * many messages as allowed for now.
   */
  | {
      readonly state: "paused";
      readonly reason: "stop" | "limit";
      readonly until: Date;
      readonly failure: ReportedFailure | null;
    }
  /** Send it. */
  | { readonly state: "claimed"; readonly claimed: ClaimedMessage }
  /**
   * Look it up at the channel, because an earlier attempt may have sent it; then send it,
   * unless there is an error.
   */
  | {
      readonly state: "uncertain";
      readonly claimed: ClaimedMessage;
      /** When the earlier attempt claimed it. */
      readonly previousClaimAt: string;
      /** Why it may not be sent now. */
      readonly blockingError: DeliveryError | undefined;
    }
  /**
   * Only look it up: the send of the earlier attempt, which keeps its claim, may arrive at the
   * channel until `endsAt`.
   */
  | { readonly state: "in_flight"; readonly channel: string; readonly endsAt: Date };

const organizationOf = ({ organization_id }: MessageName) => organization_id;

/**
 * Decides what this attempt may do with a message. In the states `claimed` and `uncertain`, the message is
 * claimed for this attempt. Undefined if the message is no longer to be sent, because this claim failed it,
 * or an earlier attempt ended it.
 */
export const claimMessage = shareTransactions(claimMessages);

/** The requests are of one organization. */
async function claimMessages(
  tx: Transaction,
  world: World,
  requests: readonly ClaimRequest[],
): Promise<readonly (MessageClaim | undefined)[]> {
  const now = world.now();
  const rows = await readUnsent({ tx, world }, requests, now);
  const quotas = createQuotas(now.getTime());
  const decisions = requests.map(({ message_id, isTakeover }) => {
    const row = rows.get(message_id);
    return row && decide(world, row, { now, isTakeover, quotas });
  });
  await markSending(tx, decisions, now);
  await failMessages(tx, world, { decisions, now });
  return decisions.map((decision) => (decision?.state === "failed" ? undefined : decision));
}

type Decision =
  | Exclude<MessageClaim, { readonly state: "claimed" }>
  | {
      readonly state: "claimed";
      readonly claimed: ClaimedMessage;
      /**
       * When the person's quota is unused again after this message; null on a channel without quotas.
       */
      readonly quotaRestoredAt: string | null;
    }
  | { readonly state: "failed"; readonly message: MessageRow; readonly error: DeliveryError };

function decide(
  world: World,
  row: UnsentMessage,
  {
    now,
    isTakeover,
    quotas,
  }: { readonly now: Date; readonly isTakeover: boolean; readonly quotas: PersonQuotas },
): Decision {
  const { claimed_at: previousClaimAt, channel, health: inboxFailure } = row;
  const blockingError = findBlockingError(world, row, now);
  if (previousClaimAt !== null) {
    const endsAt = new Date(Date.parse(previousClaimAt) + sendEndedMs);
    // Without a takeover, the earlier attempt or its lease has ended, so its send is over; but its result is
    // unknown.
    return isTakeover && endsAt > now
      ? { state: "in_flight", channel, endsAt }
      : { state: "uncertain", claimed: toClaimed(world, row, now), previousClaimAt, blockingError };
  }
  if (blockingError) {
    return { state: "failed", message: toMessage(row), error: blockingError };
  }
  const until = pausedUntil(inboxFailure, now);
  if (inboxFailure && until) {
    return { state: "paused", reason: "stop", until, failure: inboxFailure };
  }
  const claimed = toClaimed(world, row, now);
  const rate = personRateOf(world, channel);
  if (rate === undefined) {
    return { state: "claimed", claimed, quotaRestoredAt: null };
  }
  const place = quotas.take(rate, row);
  return "quotaRestoredAt" in place
    ? { state: "claimed", claimed, quotaRestoredAt: new Date(place.quotaRestoredAt).toISOString() }
    : { state: "paused", reason: "limit", until: new Date(place.waitUntil), failure: null };
}

function toClaimed(world: World, row: UnsentMessage, now: Date): ClaimedMessage {
  const { channel, inbox_id, quoted_id: quotedId, phone_number: from, health: inboxFailure, account } = row;
  return {
    channel,
    message: toMessage(row),
    inbox_id,
    quotedId,
    from,
    account: account ? openAccount(world, channel, account) : undefined,
    secrets: account?.secrets ?? null,
    wasStopped: inboxFailure !== null,
    claimedAt: now.toISOString(),
  };
}

/**
 * The row of the message, without the columns that `readUnsent` adds. One destructuring would take a line for
 * each column.
 */
function toMessage(row: UnsentMessage): MessageRow {
  const { quoted_id, last_user_message_at, erased_at, blocked_at, opted_out, ...withInbox } = row;
  const { channel, settings, phone_number, inbox_id, health, ...withAccount } = withInbox;
  const { account, person_full_at, ...message } = withAccount;
  return message;
}

function toLocked(message: MessageRow): LockedMessage {
  return { ...message, template_name: message.content.template?.name ?? null };
}

function findBlockingError(world: World, row: UnsentMessage, now: Date): DeliveryError | undefined {
  if (row.erased_at !== null) {
    return internalFailures.recipient_erased;
  }
  if (row.blocked_at !== null) {
    return internalFailures.contact_blocked;
  }
  if (row.opted_out && row.content.template?.category === "marketing") {
    return internalFailures.opted_out;
  }
  const isBound = row.type !== "template" && windowRuleOf(world, row) === "strict";
  if (isBound && !windowOf(row, now).is_within_24h_window) {
    return internalFailures.window_closed;
  }
  return now.getTime() - Date.parse(row.created_at) > maxWaitMs ? internalFailures.expired : undefined;
}

const claimColumns = {
  ...columnsOf("messages", "id"),
  full_at: columnOf("messages", "quota_full_at"),
};

/** Stores the claims. `readUnsent` has locked the rows. */
async function markSending(
  tx: Transaction,
  decisions: readonly (Decision | undefined)[],
  now: Date,
): Promise<void> {
  const at = now.toISOString();
  const sending = decisions.flatMap((decision) =>
    decision?.state === "claimed" || decision?.state === "uncertain" ? [decision] : [],
  );
  const claimed = sending.map((decision) => ({
    id: decision.claimed.message.id,
    full_at: decision.state === "claimed" ? decision.quotaRestoredAt : null,
  }));
  if (claimed.length > 0) {
    const ids = claimed.map(({ id }) => id);
    await sql`
      update messages set status = 'sending', claimed_at = ${at}::timestamptz,
        quota_full_at = coalesce(claimed.full_at, quota_full_at)
      from ${recordset("claimed", claimColumns, claimed)}
      where organization_id = ${sending[0]?.claimed.message.organization_id}
        and ${matchesKey("messages.id", "claimed.id", ids)}
    `.execute(tx);
  }
}

async function failMessages(
  tx: Transaction,
  world: World,
  { decisions, now }: { readonly decisions: readonly (Decision | undefined)[]; readonly now: Date },
): Promise<void> {
  const failed = decisions.flatMap((decision) => (decision?.state === "failed" ? [decision] : []));
  await applyUpdates(tx, world, {
    messages: new Map(failed.map(({ message }) => [message.id, toLocked(message)])),
    updates: failed.map(({ message: { id: message_id }, error }) => {
      return { message_id, type: "failed", at: now.toISOString(), error };
    }),
  });
}

/** The outcome of a send: the channel accepted the message, or it failed. */
export type SendOutcome = MessageName & Omit<StatusUpdate, "message_id">;

/** Stores an outcome, and applies the receipts that arrived before the message had its channel id. */
export const storeOutcome = shareTransactions(storeOutcomes);

/**
 * The outcomes are of one organization.
 *
 * Unlike `returnToQueue`, this does not check the claim: an outcome is about the message, whichever attempt
 * reports it, and a status never goes back.
 */
async function storeOutcomes(
  tx: Transaction,
  world: World,
  outcomes: readonly SendOutcome[],
): Promise<readonly undefined[]> {
  const organization = outcomes[0]?.organization_id ?? "";
  const ids = outcomes.map(
    ({ channel_message_id = null, message_id }) => [channel_message_id, message_id] as const,
  );
  const [messages, receipts] = await together(
    lockMessages(tx, { organization, ids: outcomes.map(({ message_id }) => message_id) }),
    takeParkedUpdates(tx, { organization, ids: new Map(ids) }),
  );
  await applyUpdates(tx, world, { messages, updates: [...outcomes, ...receipts] });
  return outcomes.map(() => undefined);
}

/** A claimed message that the channel certainly did not accept. */
export interface ReturnedMessage extends MessageName {
  readonly claimedAt: string;
  /** Whether the channel refused it. */
  readonly isRefusal: boolean;
}

/**
 * Queues a message again, and gives its place in the quota back. Does nothing if another attempt has claimed
 * the message since: the other attempt may be sending it.
 */
export const returnToQueue = coalesce(
  async (world: World, returned: readonly ReturnedMessage[]): Promise<readonly undefined[]> => {
    const rows = returned.map(({ message_id: id, claimedAt: claimed_at, isRefusal }) => {
      return { id, claimed_at, refusals: isRefusal ? 1 : 0 };
    });
    const ids = rows.map(({ id }) => id);
    await sql`
      update messages set status = 'queued', claimed_at = null, quota_full_at = null,
        refusals = messages.refusals + returned.refusals
      from ${recordset("returned", columnsOf("messages", "id", "claimed_at", "refusals"), rows)}
      where messages.organization_id = ${returned[0]?.organization_id}
        and ${matchesKey("messages.id", "returned.id", ids)}
        and messages.status = 'sending' and messages.claimed_at = returned.claimed_at
    `.execute(world.database.queries);
    return returned.map(() => undefined);
  },
  organizationOf,
);
