/**
 * Hands a queued message to its channel, at most once.
 *
 * The claim is committed before the channel is called, and the channel is called outside any
 * transaction. A claim without a result (a crash, a lost answer) is looked up by its token: taken, it is
 * recorded; absent, it is sent; unknown, it waits for a receipt and at last fails as unconfirmed. What the
 * channel may have taken is never sent again.
 */
import { fail } from "../../../tools/errors.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Attempt, Outcome } from "../../jobs/job.ts";
import type { Channel, MessageContent, Outbound, SendResult } from "../../ports/channel.ts";
import { isBsuid } from "../contacts/index.ts";
import { windowOf } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import type { ModuleJob, World } from "../kernel/index.ts";
import { explain, type MessageError, ownFailures } from "./failures.ts";
import { withFreshLink } from "./media.ts";
import { applyParked, lockMessage, type MessageRow, move } from "./progress.ts";

interface Payload {
  readonly organization_id: string;
  readonly message_id: string;
}

/** How long a send may take; well under the job's lease, so that no second worker sends meanwhile. */
const sendTimeoutMs = 10_000;
/** A message that waited longer than this, for a busy channel or behind others, has lost its moment. */
const waitsForMs = 24 * 3_600_000;
/** How long an unconfirmed claim waits for a receipt, and how often it is looked up. */
const unconfirmedForMs = 24 * 3_600_000;
const lookUpEveryMs = 15 * 60_000;

export const deliver: ModuleJob<Payload> = {
  name: "message.deliver",
  leaseMs: 30_000,
  maxAttempts: 12,

  async run(payload, world, attempt) {
    const claim = await claimMessage(payload, world);
    if (!claim) {
      return undefined;
    }
    if (claim.claimedBefore === null) {
      return send(world, payload, claim, attempt);
    }
    const found = await claim.channel.find(claim.outbound.token, payload.organization_id);
    if (found.outcome === "accepted") {
      return settle(world, payload, found);
    }
    if (found.outcome === "absent") {
      // Time has passed since the first try: what held then may not hold now.
      return claim.obstacle
        ? failMessage(world, payload, claim.obstacle)
        : send(world, payload, claim, attempt);
    }
    return watchFor(world, payload, claim.claimedBefore);
  },

  async exhausted(payload, world) {
    await failMessage(world, payload, ownFailures.unconfirmed);
  },
};

/**
 * Looks, without the thread's key and so in nobody's way, what became of a message that the channel may have
 * taken and can't tell of.
 */
export const confirm: ModuleJob<Payload & { readonly since: string }> = {
  name: "message.confirm",

  async run({ since, ...payload }, world) {
    const message = await world.database.queries
      .selectFrom("messages")
      .select("status")
      .where("organization_id", "=", payload.organization_id)
      .where("id", "=", payload.message_id)
      .executeTakeFirst();
    if (message?.status !== "sending") {
      return undefined;
    }
    if (world.now().getTime() - Date.parse(since) > unconfirmedForMs) {
      return failMessage(world, payload, ownFailures.unconfirmed);
    }
    return { runAgainAt: new Date(world.now().getTime() + lookUpEveryMs) };
  },
};

interface ClaimedMessage {
  readonly channel: Channel;
  readonly outbound: Outbound;
  /** Why it may not be sent now. */
  readonly obstacle: MessageError | undefined;
  /** When an earlier attempt took it up, of which nobody knows how it ended. */
  readonly claimedBefore: string | null;
  /** When this attempt did: the proof that the claim is still its own. */
  readonly claimedAt: string;
}

/** Marks the message as being sent, if it still is to be; undefined when there is nothing to do. */
async function claimMessage(payload: Payload, world: World): Promise<ClaimedMessage | undefined> {
  return world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (!message || (message.status !== "queued" && message.status !== "sending")) {
      return undefined;
    }
    const thread = await tx
      .selectFrom("conversations")
      .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
      .select(["last_user_message_at", "inboxes.channel", "inboxes.settings", "inboxes.phone_number"])
      .where("conversations.organization_id", "=", payload.organization_id)
      .where("conversations.id", "=", message.conversation_id)
      .executeTakeFirstOrThrow();
    const now = world.now();
    const obstacle = obstacleTo(message, thread, now);
    if (obstacle && message.claimed_at === null) {
      await move(tx, world, message, { type: "failed", at: now.toISOString(), error: obstacle });
      return undefined;
    }
    const claimedAt = now.toISOString();
    await tx
      .updateTable("messages")
      .set({ status: "sending", claimed_at: claimedAt })
      .where("organization_id", "=", payload.organization_id)
      .where("id", "=", message.id)
      .execute();
    const channel = channelOf(world, thread.channel);
    const outbound = describe(message, thread.phone_number);
    return { channel, outbound, obstacle, claimedBefore: message.claimed_at, claimedAt };
  });
}

function obstacleTo(
  message: MessageRow,
  thread: { channel: string; settings: Record<string, unknown>; last_user_message_at: string | null },
  now: Date,
): MessageError | undefined {
  if (message.to === null) {
    return ownFailures.recipient_erased;
  }
  if (isWindowStrict(thread) && !windowOf(thread, now).is_within_24h_window) {
    return ownFailures.window_closed;
  }
  return now.getTime() - Date.parse(message.created_at) > waitsForMs ? ownFailures.expired : undefined;
}

async function send(
  world: World,
  payload: Payload,
  { channel, outbound, claimedAt }: ClaimedMessage,
  attempt: Attempt,
): Promise<Outcome> {
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(sendTimeoutMs)]);
  const result = await channel.send(await withFreshLink(world, outbound), signal);
  const settlers: {
    [Key in SendResult["outcome"]]: (result: Extract<SendResult, { outcome: Key }>) => Promise<Outcome>;
  } = {
    accepted: (accepted) => settle(world, payload, accepted),
    refused: ({ failure }) => failMessage(world, payload, explain(failure)),
    busy: ({ retryAfterMs }) => release(world, payload, claimedAt, retryAfterMs),
  };
  // The table is total over `outcome`; the compiler can't pair a key with its own argument.
  return (settlers[result.outcome] as (result: SendResult) => Promise<Outcome>)(result);
}

/** The channel took it: that is "sent". */
async function settle(
  world: World,
  payload: Payload,
  { channel_message_id }: { channel_message_id: string },
): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (message) {
      const at = world.now().toISOString();
      const sent = await move(tx, world, message, { type: "sent", at, channel_message_id });
      await applyParked(tx, world, sent);
    }
  });
  return undefined;
}

async function failMessage(world: World, payload: Payload, error: MessageError): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (message) {
      await move(tx, world, message, { type: "failed", at: world.now().toISOString(), error });
    }
  });
  return undefined;
}

/** Certainly not taken: back to the queue, and again when the channel allows. */
async function release(
  world: World,
  payload: Payload,
  claimedAt: string,
  retryAfterMs: number,
): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    await tx
      .updateTable("messages")
      .set({ status: "queued", claimed_at: null })
      .where("organization_id", "=", payload.organization_id)
      .where("id", "=", payload.message_id)
      .where("status", "=", "sending")
      .where("claimed_at", "=", claimedAt)
      .execute();
  });
  return { runAgainAt: new Date(world.now().getTime() + retryAfterMs) };
}

/** Leaves the message to its receipt, and the thread's key to the messages behind it. */
async function watchFor(world: World, payload: Payload, since: string): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    await world.jobs.enqueue(tx, {
      name: confirm.name,
      payload: { ...payload, since },
      organization_id: payload.organization_id,
      runAt: new Date(world.now().getTime() + lookUpEveryMs),
    });
  });
  return undefined;
}

function describe(message: MessageRow, from: string): Outbound {
  const to = message.to ?? "";
  return {
    organization_id: message.organization_id,
    from,
    to,
    to_kind: isBsuid(to) ? "bsuid" : "phone",
    token: message.id,
    // Written by `send` from a checked input: type and content belong together.
    content: { type: message.type, ...message.content } as MessageContent,
  };
}

function channelOf(world: World, name: string): Channel {
  const channel = world.channels[name];
  if (!channel) {
    throw fail("unavailable", { reason: `the channel ${name} is not configured.` });
  }
  return channel;
}
