/**
 * Stores received messages, each once per channel id. Safe to repeat.
 *
 * Messages of one organization that arrive together share a transaction, which saves 40 % of the statements.
 */

import { fail } from "../../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../../database/query/index.ts";
import { coalesce } from "../../../../../database/sharing/index.ts";
import { together } from "../../../../../database/transaction.ts";
import { commitUpload } from "../../../../content/uploads/index.ts";
import { type Change, system, type Transaction, type World } from "../../../../foundation/kernel/index.ts";
import { changeContact, findOrCreateContact } from "../../../contacts/index.ts";
import { findOrCreateConversation } from "../../../conversations/index.ts";
import { insertMessage } from "./insert.ts";
import type { MessageNames, MessageToStore, StoredMessage } from "./message.ts";
import { applyWords, recordEcho, recordReceived } from "./record.ts";

export { insertMessage } from "./insert.ts";
export type { MessageNames, MessageToStore } from "./message.ts";

/** Stores a message with its contact and conversation, unless it is stored already. */
export const storeMessage = coalesce(
  (world: World, messages: readonly MessageToStore[]) =>
    world.database.transaction(
      async (tx) => {
        const names = await storeAll({ tx, world, now: world.now(), actor: system }, messages);
        const jobs = messages.flatMap(({ job_id }) => job_id ?? []);
        if (jobs.length > 0) {
          tx.sendWithCommit(() => world.jobs.remove(tx, jobs));
        }
        return names;
      },
      { keepsPlans: true },
    ),
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
    await (received.stored.message.is_echo ? recordEcho : recordReceived)(change, received);
  }
  // At the end, because a confirmation changes the wallet's balance, which sending locks after a
  // conversation. In another order, the two could deadlock.
  for (const received of newMessages.filter(({ stored }) => !stored.message.is_echo)) {
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
  readonly received?: StoredMessage;
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
  const names = { message_id, conversation_id: conversation.id };
  return { names, received: { stored, names, inbox, contact, conversation } };
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
