/**
 * Claims queued messages for sending, those of one organization together, and stores what became of them.
 *
 * A claim is committed before the channel is called, and says when. Together with the channel's look-up it makes the
 * delivery at-most-once.
 */
import { sql } from "kysely";
import { coalesce } from "../../../database/coalesce.ts";
import { columnOf, columnsOf, matchesKey, recordset } from "../../../database/query/index.ts";
import type { InboxHealth, Sealed } from "../../../database/schema/index.ts";
import { together } from "../../../database/transaction.ts";
import type { ChannelAccount, ChannelFailure } from "../../../ports/channel.ts";
import { isWindowStrict, openAccount, pausedUntil, StoredAccount } from "../../account/inboxes/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { windowOf } from "../conversations/index.ts";
import { type DeliveryError, internalFailures } from "./failures.ts";
import { createQuotas } from "./person-quota.ts";
import {
  applyUpdates,
  type LockedMessage,
  lockMessages,
  type MessageRow,
  type StatusUpdate,
  takeParkedReceipts,
  toStatusUpdate,
} from "./progress.ts";
import { type MessageName, maxWaitMs, readUnsent, type UnsentMessage } from "./unsent.ts";

/** From the claim to the end of the send. Well below the job's lease. */
export const sendTimeoutMs = 10_000;
/** When the send of a claim has ended in any case. Longer, because the clocks of two machines differ. */
export const sendEndedMs = sendTimeoutMs + 2_000;

interface ClaimRequest extends MessageName {
  /** The attempt before did not end: its process died, or was blocked and may still be sending. */
  readonly isTakeover: boolean;
}

interface Pause {
  readonly until: Date;
  /** Null: the person has had as many messages as the channel allows for now. */
  readonly failure: ChannelFailure | null;
}

export interface ClaimedMessage {
  /** The channel's name. */
  readonly channel: string;
  readonly message: MessageRow;
  readonly inbox_id: string;
  /** The channel's id of the message that it quotes. */
  readonly quotedId: string | null;
  /** The inbox's number. */
  readonly from: string;
  /** Undefined on the simulated channel, or if the inbox has lost it. */
  readonly account: ChannelAccount | undefined;
  /** Those of the account, as they are stored; null without one. */
  readonly secrets: Sealed | null;
  /** Why the inbox sends nothing now, or nothing to this person. The message is not claimed then. */
  readonly pause: Pause | undefined;
  /** When the person's quota is complete again after this message; null if it took no place. */
  readonly quotaFullAt: string | null;
  /** Whether the inbox could not send before. */
  readonly wasStopped: boolean;
  /** Why it may not be sent now. */
  readonly blockingError: DeliveryError | undefined;
  /** When an earlier attempt claimed it, whose result is unknown. */
  readonly previousClaimAt: string | null;
  /** The send of that attempt may still arrive at the channel; so its claim is kept. */
  readonly isSendRunning: boolean;
  /** When this attempt claimed it; proves that no other attempt has claimed it since. */
  readonly claimedAt: string;
}

const organizationOf = ({ organization_id }: MessageName) => organization_id;

/** Marks a message as being sent; undefined if it is no longer to be sent. */
export const claimMessage = coalesce(
  (world: World, requests: readonly ClaimRequest[]): Promise<readonly (ClaimedMessage | undefined)[]> =>
    world.database.transaction((tx) => claimMessages(tx, world, requests), { keepsPlans: true }),
  organizationOf,
);

async function claimMessages(
  tx: Transaction,
  world: World,
  requests: readonly ClaimRequest[],
): Promise<readonly (ClaimedMessage | undefined)[]> {
  const now = world.now();
  const rows = await readUnsent(tx, requests, now);
  const takePlace = createPlaceTaker(now);
  const at = now.toISOString();
  const claims = requests.map(({ message_id, isTakeover }) => {
    const row = rows.get(message_id);
    return row && takePlace(toClaim(world, row, { now, isTakeover }), row);
  });
  const failed = claims.flatMap((claim) => (claim?.blockingError && !claim.previousClaimAt ? [claim] : []));
  const sending = claims.flatMap((claim) => (claim && !failed.includes(claim) ? [claim] : []));
  await markSending(tx, sending, at);
  await applyUpdates(tx, world, {
    messages: new Map(failed.map(({ message }) => [message.id, toLocked(message)])),
    updates: failed.map(({ message: { id }, blockingError: error }) => {
      return { message_id: id, type: "failed", at, error };
    }),
  });
  return claims.map((claim) => (claim && failed.includes(claim) ? undefined : claim));
}

function toClaim(
  world: World,
  row: UnsentMessage,
  { now, isTakeover }: { readonly now: Date; readonly isTakeover: boolean },
): ClaimedMessage {
  const { quoted_id: quotedId, last_user_message_at, erased_at, blocked_at, opted_out, ...sending } = row;
  const { channel, settings, phone_number: from, inbox_id, health, ...stored } = sending;
  const { phone_number_id, waba_id, app_id, secrets, person_full_at: _, ...message } = stored;
  const previousClaimAt = message.claimed_at;
  const { data: account } = StoredAccount.safeParse({ phone_number_id, waba_id, app_id, secrets });
  return {
    channel,
    message,
    quotedId,
    inbox_id,
    from,
    previousClaimAt,
    account: account && openAccount(world, account),
    secrets,
    pause: previousClaimAt === null ? findPause(health, now) : undefined,
    quotaFullAt: null,
    wasStopped: health !== null,
    blockingError: findBlockingError(row, now),
    isSendRunning:
      isTakeover && previousClaimAt !== null && now.getTime() - Date.parse(previousClaimAt) < sendEndedMs,
    claimedAt: now.toISOString(),
  };
}

function findPause(health: InboxHealth | null, now: Date): Pause | undefined {
  const until = pausedUntil(health, now);
  return health && until ? { until, failure: health } : undefined;
}

/** Takes the place of a message that is to be sent now, within its person's quota. */
function createPlaceTaker(now: Date) {
  const quotas = createQuotas(now.getTime());
  return (claim: ClaimedMessage, { phone_number_id, person_full_at }: UnsentMessage): ClaimedMessage => {
    const { pause, blockingError, previousClaimAt, message } = claim;
    if (phone_number_id === null || pause || blockingError || previousClaimAt !== null) {
      return claim;
    }
    const place = quotas.take(message.conversation_id, person_full_at);
    return "fullAt" in place
      ? { ...claim, quotaFullAt: new Date(place.fullAt).toISOString() }
      : { ...claim, pause: { until: new Date(place.waitUntil), failure: null } };
  };
}

function toLocked(message: MessageRow): LockedMessage {
  return { ...message, template_name: message.content.template?.name ?? null };
}

function findBlockingError(row: UnsentMessage, now: Date): DeliveryError | undefined {
  if (row.erased_at !== null) {
    return internalFailures.recipient_erased;
  }
  if (row.blocked_at !== null) {
    return internalFailures.contact_blocked;
  }
  if (row.opted_out && row.content.template?.category === "marketing") {
    return internalFailures.opted_out;
  }
  if (row.type !== "template" && isWindowStrict(row) && !windowOf(row, now).is_within_24h_window) {
    return internalFailures.window_closed;
  }
  return now.getTime() - Date.parse(row.created_at) > maxWaitMs ? internalFailures.expired : undefined;
}

const claimColumns = {
  ...columnsOf("messages", "id"),
  full_at: columnOf("messages", "quota_full_at"),
};

async function markSending(tx: Transaction, claims: readonly ClaimedMessage[], at: string): Promise<void> {
  const claimed = claims
    .filter(({ isSendRunning, pause }) => !isSendRunning && pause === undefined)
    .map(({ message, quotaFullAt: full_at }) => ({ id: message.id, full_at }));
  if (claimed.length > 0) {
    const ids = claimed.map(({ id }) => id);
    await sql`
      update messages set status = 'sending', claimed_at = ${at}::timestamptz,
        quota_full_at = coalesce(claimed.full_at, quota_full_at)
      from ${recordset("claimed", claimColumns, claimed)}
      where organization_id = ${claims[0]?.message.organization_id}
        and ${matchesKey("messages.id", "claimed.id", ids)}
    `.execute(tx);
  }
}

/** What became of a message: accepted by the channel, or failed. */
export type SendOutcome = MessageName & Omit<StatusUpdate, "message_id">;

/** Stores an outcome, and applies the receipts that arrived before the message had its channel id. */
export const storeOutcome = coalesce(
  async (world: World, outcomes: readonly SendOutcome[]): Promise<readonly undefined[]> => {
    await world.database.transaction((tx) => storeOutcomes(tx, world, outcomes), { keepsPlans: true });
    return outcomes.map(() => undefined);
  },
  organizationOf,
);

async function storeOutcomes(tx: Transaction, world: World, outcomes: readonly SendOutcome[]): Promise<void> {
  const organization = outcomes[0]?.organization_id ?? "";
  const byChannelId = new Map(
    outcomes.map(({ channel_message_id, message_id }) => [channel_message_id, message_id]),
  );
  const [messages, parked] = await together(
    lockMessages(tx, { organization, ids: outcomes.map(({ message_id }) => message_id) }),
    takeParkedReceipts(tx, {
      organization,
      channelIds: outcomes.flatMap(({ channel_message_id }) => channel_message_id ?? []),
    }),
  );
  const receipts = parked.flatMap(({ error: failure, ...receipt }) => {
    const id = byChannelId.get(receipt.channel_message_id);
    return id === undefined ? [] : [toStatusUpdate(id, { ...receipt, failure })];
  });
  await applyUpdates(tx, world, { messages, updates: [...outcomes, ...receipts] });
}

/** A claimed message that the channel certainly did not accept. */
export interface ReturnedMessage extends MessageName {
  readonly claimedAt: string;
  /** Whether the channel refused it. */
  readonly isRefusal: boolean;
}

/** Queues a message again, unless another attempt has claimed it since. It gives its place in the quota back. */
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
