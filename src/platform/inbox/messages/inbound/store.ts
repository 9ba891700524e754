/**
 * Receives inbound messages from a channel. Safe to repeat.
 *
 * Messages of one organization that arrive together share transactions, which saves 40 % of the statements.
 */
import { fail } from "../../../../../tools/errors.ts";
import { coalesce } from "../../../../database/coalesce.ts";
import { newId } from "../../../../database/id.ts";
import { ofOrganization, onlyRow } from "../../../../database/query/index.ts";
import type { ChannelCallbacks, InboundMessage } from "../../../../ports/channel/channel.ts";
import { getInbox } from "../../../account/inboxes/index.ts";
import { commitUpload, type ReceivedFile } from "../../../content/uploads/index.ts";
import { type Change, system, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { changeContact, findOrCreateContact } from "../../contacts/index.ts";
import { findOrCreateConversation, recordInbound } from "../../conversations/index.ts";
import { applyConsentWords } from "../consent/index.ts";
import { getWaiters } from "../waiting/index.ts";
import { senderOf } from "./sender.ts";

/** What is stored with a message. */
export interface Arrival {
  /** The message's file, which is in the store and becomes an upload. */
  readonly file: ReceivedFile | null;
  /** The message in the channel's form. */
  readonly original: Readonly<Record<string, unknown>> | null;
}

interface Received {
  readonly inbound: InboundMessage;
  readonly arrival?: Arrival | undefined;
}

type StoredNames = Awaited<ReturnType<ChannelCallbacks["onMessage"]>>;

/** Stores an inbound message with its contact and conversation, once per `channel_message_id`. */
export async function receiveMessage(
  world: World,
  inbound: InboundMessage,
  arrival?: Arrival,
): Promise<StoredNames> {
  const received = { inbound, arrival };
  // Its upload locks the organization.
  const isAlone = arrival?.file !== undefined && arrival.file !== null;
  const result = isAlone ? await storeAlone(world, received) : await storeTogether(world, received);
  if (result.status === "rejected") {
    throw result.reason;
  }
  return result.value;
}

/** For a longer transaction, the locks of its first messages would be held too long. */
const maxTogether = 16;

const storeTogether = coalesce(
  async (world: World, received: readonly Received[]) => {
    const results: PromiseSettledResult<StoredNames>[] = [];
    for (let first = 0; first < received.length; first += maxTogether) {
      results.push(...(await storeSome(world, received.slice(first, first + maxTogether))));
    }
    return results;
  },
  ({ inbound }) => inbound.organization_id,
);

/** In one transaction; if one fails, each in its own, so that it fails alone. */
async function storeSome(
  world: World,
  received: readonly Received[],
): Promise<readonly PromiseSettledResult<StoredNames>[]> {
  const [first] = received;
  if (first && received.length === 1) {
    return [await storeAlone(world, first)];
  }
  try {
    const names = await world.database.transaction((tx) => storeAll(tx, world, received));
    return names.map((value) => ({ status: "fulfilled", value }));
  } catch (error) {
    const organization_id = first?.inbound.organization_id;
    world.log.debug({ err: error, organization_id }, "Messages that arrived together are stored one by one");
    // The one that failed fails again, with its error, or was repeated.
    const results: PromiseSettledResult<StoredNames>[] = [];
    for (const one of received) {
      results.push(await storeAlone(world, one));
    }
    return results;
  }
}

async function storeAlone(world: World, received: Received): Promise<PromiseSettledResult<StoredNames>> {
  const names = world.database.transaction(async (tx) => onlyRow(await storeAll(tx, world, [received])));
  const [result] = await Promise.allSettled([names]);
  return result.status === "rejected" && result.reason instanceof Repeated
    ? { status: "fulfilled", value: result.reason.names }
    : result;
}

/**
 * Ends the transaction of a message that is stored already, and undoes what it changed: the sender, whose contact was
 * erased or has another number since, must not become a new contact.
 */
class Repeated extends Error {
  readonly names: StoredNames;

  constructor(names: StoredNames) {
    super("The message is stored already.");
    this.names = names;
  }
}

async function storeAll(
  tx: Transaction,
  world: World,
  received: readonly Received[],
): Promise<readonly StoredNames[]> {
  const stored: Stored[] = [];
  for (const one of received) {
    stored.push(await store(tx, world, one));
  }
  // At the end, because a confirmation changes the wallet's balance, which sending locks after a conversation. In another
  // order, the two could deadlock.
  for (const { applyWords } of stored) {
    await applyWords?.();
  }
  return stored.map(({ names }) => names);
}

interface Stored {
  readonly names: StoredNames;
  /** Only of a text that was not known: changes the consent if it is a stop or start word. */
  readonly applyWords?: () => Promise<void>;
}

async function store(tx: Transaction, world: World, { inbound, arrival }: Received): Promise<Stored> {
  const { organization_id: organization } = inbound;
  const now = world.now();
  const change = { tx, world, now, actor: system };
  const inbox = await getInbox(tx, organization, { phone_number: inbound.to, channel: inbound.channel });
  if (!inbox) {
    throw inbound.to === null ? fail("no_inbox") : fail("inbox_not_found", { param: "to" });
  }
  if (arrival?.file) {
    // First, because it locks the organization.
    await commitUpload(change, arrival.file, false);
  }
  const contact = await findSender(change, inbound);
  const owner = { organization, inbox_id: inbox.id, contact_id: contact.id, now };
  const conversation = await findOrCreateConversation(change, owner);
  const message_id = await storeMessage(tx, inbound, { inbox, conversation, now });
  if (message_id === undefined) {
    if (arrival?.file) {
      throw new Error("The message was stored meanwhile, with another copy of its file.");
    }
    throw new Repeated(await findExisting(tx, inbound));
  }
  if (arrival?.original) {
    await storeOriginal(change, arrival.original, { organization_id: organization, message_id });
  }
  const isBlocked = contact.blocked_at !== null;
  await recordInbound(change, conversation, { at: inbound.occurred_at, isBlocked });
  tx.afterCommit(() => getWaiters(world).notify(organization, conversation.id));
  const names = { message_id, conversation_id: conversation.id };
  emitReceived(tx, world, inbound, names);
  if (inbound.content.type !== "text") {
    return { names };
  }
  const to = inbound.from ?? inbound.identities?.bsuid ?? null;
  const text = inbound.content.text.body;
  const at = inbound.occurred_at;
  const applyWords = () => applyConsentWords(change, { inbox, contact, conversation, text, to, at });
  return { names, applyWords };
}

async function storeOriginal(
  { tx, now }: Change,
  original: NonNullable<Arrival["original"]>,
  message: { readonly organization_id: string; readonly message_id: string },
): Promise<void> {
  const row = { ...message, original: JSON.stringify(original), received_at: now.toISOString() };
  await tx.insertInto("message_originals").values(row).execute();
}

/** Finds or creates the contact who wrote by any of their identities, and adds those that are new. */
async function findSender(change: Change, inbound: InboundMessage) {
  const { world, now } = change;
  const { organization_id: organization, from: phone_number, identities, name } = inbound;
  const sender = { organization, phone_number, identities, name, now };
  const { contact, conflicting } = await findOrCreateContact(change, sender);
  if (conflicting.length > 0) {
    world.log.warn(
      { organization_id: organization, contact_id: contact.id, kinds: conflicting },
      "Some identities of the sender belong to another contact and were not moved",
    );
  }
  return contact.name === null && name !== null
    ? changeContact({ ...change, organization }, contact.id, { name })
    : contact;
}

interface MessageTarget {
  readonly inbox: { readonly phone_number: string };
  readonly conversation: { readonly id: string };
  readonly now: Date;
}

/** Returns the new message's id; undefined if the message exists. */
async function storeMessage(
  tx: Transaction,
  inbound: InboundMessage,
  { inbox, conversation, now }: MessageTarget,
) {
  const { type, ...content } = inbound.content;
  const stored = await tx
    .insertInto("messages")
    .values({
      organization_id: inbound.organization_id,
      id: newId("msg", now),
      conversation_id: conversation.id,
      direction: "inbound",
      type,
      content: JSON.stringify(content),
      from: senderOf(inbound),
      to: inbox.phone_number,
      status: "received",
      channel_message_id: inbound.channel_message_id,
      created_at: now.toISOString(),
      reply_to: quotedId(tx, inbound, conversation.id),
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "channel_message_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return stored?.id;
}

/** As part of the statement: null if it quotes nothing, or a message that is not one of the conversation. */
function quotedId(tx: Transaction, { organization_id, reply_to }: InboundMessage, conversation_id: string) {
  return reply_to
    ? ofOrganization(tx, organization_id)
        .selectFrom("messages")
        .select("id")
        .where("channel_message_id", "=", reply_to)
        .where("conversation_id", "=", conversation_id)
    : null;
}

function emitReceived(
  tx: Transaction,
  world: World,
  inbound: InboundMessage,
  ids: { message_id: string; conversation_id: string },
): void {
  const { content } = inbound;
  tx.afterCommit(() => world.metrics.message("received"));
  tx.emit({
    type: "message.received",
    organization_id: inbound.organization_id,
    order: ids.conversation_id,
    data: {
      ...ids,
      from: senderOf(inbound),
      type: content.type,
      ...("text" in content ? { text: content.text } : {}),
    },
  });
}

async function findExisting(tx: Transaction, inbound: InboundMessage) {
  const { id, conversation_id } = await ofOrganization(tx, inbound.organization_id)
    .selectFrom("messages")
    .select(["id", "conversation_id"])
    .where("channel_message_id", "=", inbound.channel_message_id)
    .executeTakeFirstOrThrow();
  return { message_id: id, conversation_id };
}
