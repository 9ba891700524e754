/**
 * Stores received messages, each once per channel id. Safe to repeat.
 *
 * Messages of one organization that arrive together share a transaction, which saves 40 % of the statements.
 */

import { fail } from "../../../../../tools/errors.ts";
import { newId } from "../../../../database/id.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { AccountMessage, ChannelCallbacks } from "../../../../ports/channel/channel.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import { commitUpload, type ReceivedFile } from "../../../content/uploads/index.ts";
import { type Change, system, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import {
  addressAmong,
  type ContactRow,
  changeContact,
  findOrCreateContact,
  senderOf,
} from "../../contacts/index.ts";
import { type ConversationRow, findOrCreateConversation, recordInbound } from "../../conversations/index.ts";
import { applyConsentWords } from "../consent/index.ts";
import { getWaiters } from "../waiting/index.ts";

export interface MessageToStore {
  readonly organization_id: string;
  readonly inbox_id: string;
  readonly message: Omit<AccountMessage, "account_id">;
  /** The message's file, which is in the store and becomes an upload. */
  readonly file: ReceivedFile | null;
  /** The message's own job if no worker runs it. The transaction deletes it. */
  readonly job_id?: string;
}

/** The ids of a stored message and its conversation. */
export type MessageNames = Awaited<ReturnType<ChannelCallbacks["onMessage"]>>;

/** Stores a message with its contact and conversation, unless it is stored already. */
export const storeMessage = coalesce(
  (world: World, messages: readonly MessageToStore[]) =>
    world.database.transaction(async (tx) => {
      const names = await storeAll({ tx, world, now: world.now(), actor: system }, messages);
      const jobs = messages.flatMap(({ job_id }) => job_id ?? []);
      if (jobs.length > 0) {
        tx.sendWithCommit(() => world.jobs.remove(tx, jobs));
      }
      return names;
    }),
  keyOf,
  {
    // In a longer transaction, the locks of the first messages would be held too long.
    maxBatchSize: 16,
    runsEachAlone({ log }, error, [first]) {
      const organization_id = first?.organization_id;
      log.debug({ err: error, organization_id }, "Messages that arrived together are stored one by one");
      return true;
    },
  },
);

/** A message with a file is stored alone: its upload locks the organization. */
function keyOf({ organization_id, message, file }: MessageToStore): string {
  return file ? `${organization_id} ${message.channel_message_id}` : organization_id;
}

/**
 * Stores messages. The statements that concern only a contact are sent together for several contacts. What
 * changes more, such as the load of an agent whose conversation is reopened, is done for one message after
 * the other.
 */
async function storeAll(
  change: Change,
  messages: readonly MessageToStore[],
): Promise<readonly MessageNames[]> {
  const inserted: InsertedMessage[] = [];
  for (const group of withoutSharedIdentities(messages)) {
    inserted.push(...(await together(...group.map((one) => insertInConversation(change, one)))));
  }
  const newMessages = inserted.flatMap(({ received }) => received ?? []);
  for (const received of newMessages) {
    await recordReceived(change, received);
  }
  // At the end, because a confirmation changes the wallet's balance, which sending locks after a
  // conversation. In another order, the two could deadlock.
  for (const received of newMessages) {
    await applyWords(change, received);
  }
  return inserted.map(({ names }) => names);
}

/** Divides messages into groups, in their order. In a group, no two senders have the same identity. */
function withoutSharedIdentities(messages: readonly MessageToStore[]): readonly MessageToStore[][] {
  const groups: MessageToStore[][] = [[]];
  let used = new Set<string>();
  for (const one of messages) {
    const identities = Object.entries(one.message.from).flatMap(([kind, value]) =>
      value === undefined ? [] : `${kind} ${value}`,
    );
    if (identities.some((identity) => used.has(identity))) {
      groups.push([]);
      used = new Set();
    }
    groups.at(-1)?.push(one);
    for (const identity of identities) {
      used.add(identity);
    }
  }
  return groups;
}

interface InsertedMessage {
  readonly names: MessageNames;
  /** Undefined if the message was stored before. */
  readonly received?: Received;
}

interface Received {
  readonly stored: MessageToStore;
  readonly names: MessageNames;
  readonly inbox: Awaited<ReturnType<typeof readTarget>>["inbox"];
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
}

async function insertInConversation(change: Change, stored: MessageToStore): Promise<InsertedMessage> {
  const { tx, now } = change;
  const { organization_id: organization, message, file } = stored;
  const { inbox, names: known } = await readTarget(tx, stored);
  if (known) {
    // Nothing is changed yet: the sender, whose contact was erased or has another number since, must not
    // become a new contact.
    return { names: known };
  }
  if (file) {
    // First, because it locks the organization.
    await commitUpload(change, file, false);
  }
  const contact = await findSender(change, organization, message);
  const owner = { organization, inbox_id: inbox.id, contact_id: contact.id, now };
  const conversation = await findOrCreateConversation(change, owner);
  const message_id = await insertMessage(tx, message, { organization, inbox, conversation, now });
  if (message_id === undefined) {
    return { names: await requireNames(tx, stored) };
  }
  if (message.content.type === "unsupported") {
    await insertOriginal(tx, message.original, { organization_id: organization, message_id, now });
  }
  const names = { message_id, conversation_id: conversation.id };
  return { names, received: { stored, names, inbox, contact, conversation } };
}

async function recordReceived(
  change: Change,
  { stored, names, contact, conversation }: Received,
): Promise<void> {
  const { tx, world } = change;
  const { organization_id, message } = stored;
  const isBlocked = contact.blocked_at !== null;
  await recordInbound(change, conversation, { at: message.occurred_at, isBlocked });
  tx.afterCommit(() => getWaiters(world).notify(organization_id, conversation.id));
  emitReceived(tx, world, stored, names);
}

/** Changes the consent if a text is a stop or start word. */
async function applyWords(change: Change, { stored, inbox, contact, conversation }: Received): Promise<void> {
  const { content, from, occurred_at: at } = stored.message;
  if (content.type === "text") {
    const to = addressAmong(capabilitiesOf(change.world, inbox).addresses, from)?.value ?? null;
    await applyConsentWords(change, { inbox, contact, conversation, text: content.text.body, to, at });
  }
}

/** The inbox, and the names of the message if it is stored already. */
async function readTarget(tx: Transaction, { organization_id, inbox_id, message }: MessageToStore) {
  const row = await ofOrganization(tx, organization_id)
    .selectFrom("inboxes")
    .leftJoin("messages", (join) =>
      join
        .onRef("messages.organization_id", "=", "inboxes.organization_id")
        .on("messages.channel_message_id", "=", message.channel_message_id),
    )
    .selectAll("inboxes")
    .select(["messages.id as message_id", "messages.conversation_id"])
    .where("inboxes.id", "=", inbox_id)
    .executeTakeFirst();
  if (!row) {
    throw fail("inbox_not_found", { param: "inbox_id" });
  }
  const { message_id, conversation_id, ...inbox } = row;
  const isStored = message_id !== null && conversation_id !== null;
  return { inbox, names: isStored ? { message_id, conversation_id } : undefined };
}

/**
 * The names of a message that another process has stored since `readTarget`. What this transaction has
 * changed of the sender, the other one has changed too.
 */
async function requireNames(
  tx: Transaction,
  { organization_id, message, file }: MessageToStore,
): Promise<MessageNames> {
  if (file) {
    throw new Error("The message was stored meanwhile, with another copy of its file.");
  }
  const { id, conversation_id } = await ofOrganization(tx, organization_id)
    .selectFrom("messages")
    .select(["id", "conversation_id"])
    .where("channel_message_id", "=", message.channel_message_id)
    .executeTakeFirstOrThrow();
  return { message_id: id, conversation_id };
}

async function insertOriginal(
  tx: Transaction,
  original: MessageToStore["message"]["original"],
  { now, ...message }: { readonly organization_id: string; readonly message_id: string; readonly now: Date },
): Promise<void> {
  const row = { ...message, original: JSON.stringify(original), received_at: now.toISOString() };
  await tx.insertInto("message_originals").values(row).execute();
}

/** Finds the contact by any identity of the sender, or creates it, and adds the new identities. */
async function findSender(
  change: Change,
  organization: string,
  { from: identities, name }: MessageToStore["message"],
) {
  const { world, now } = change;
  const sender = { organization, identities, name, now };
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
  readonly organization: string;
  readonly inbox: { readonly phone_number: string };
  readonly conversation: { readonly id: string };
  readonly now: Date;
}

/** Returns the new message's id; undefined if the message exists. */
async function insertMessage(
  tx: Transaction,
  message: MessageToStore["message"],
  { organization, inbox, conversation, now }: MessageTarget,
): Promise<string | undefined> {
  const { type, ...content } = message.content;
  const inserted = await tx
    .insertInto("messages")
    .values({
      organization_id: organization,
      id: newId("msg", now),
      conversation_id: conversation.id,
      direction: "inbound",
      type,
      content: JSON.stringify(content),
      from: senderOf(message.from),
      to: inbox.phone_number,
      status: "received",
      channel_message_id: message.channel_message_id,
      created_at: now.toISOString(),
      reply_to: message.reply_to ? quotedId(tx, message.reply_to, { organization, conversation }) : null,
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "channel_message_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted?.id;
}

/** As part of the statement: null if the quoted message is of another conversation, or unknown. */
function quotedId(
  tx: Transaction,
  reply_to: string,
  { organization, conversation }: Pick<MessageTarget, "organization" | "conversation">,
) {
  return ofOrganization(tx, organization)
    .selectFrom("messages")
    .select("id")
    .where("channel_message_id", "=", reply_to)
    .where("conversation_id", "=", conversation.id);
}

function emitReceived(
  tx: Transaction,
  world: World,
  { organization_id, message }: MessageToStore,
  names: MessageNames,
): void {
  const { content } = message;
  tx.afterCommit(() => world.metrics.message("received"));
  tx.emit({
    type: "message.received",
    organization_id,
    order: names.conversation_id,
    data: {
      ...names,
      from: senderOf(message.from),
      type: content.type,
      ...("text" in content ? { text: content.text } : {}),
    },
  });
}
