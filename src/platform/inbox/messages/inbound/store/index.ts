/**
 * Stores received messages, each once per channel id. Safe to repeat.
 *
 * Messages of one organization that arrive together share a transaction and its statements.
 */

import { ofOrganization } from "../../../../../database/query/index.ts";
import { coalesce } from "../../../../../database/sharing/index.ts";
import { together } from "../../../../../database/transaction.ts";
import { type Change, system, type Transaction, type World } from "../../../../foundation/kernel/index.ts";
import { insertReceived } from "./insert.ts";
import type { MessageNames, MessageToStore, StoredMessage } from "./message.ts";
import { type PlacedMessage, placeMessages, readInboxes } from "./place.ts";
import { applyReceiptsOfEchoes, applyWords, recordEcho, recordReceived } from "./record.ts";

export { insertReceived } from "./insert.ts";
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
    // A larger transaction would hold the locks of its first messages too long.
    maxBatchSize: 64,
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
 * Stores messages of one organization with a few statements for all of them. What a message changes beyond
 * that, such as the load of an agent whose conversation is reopened, is done for one after the other.
 */
async function storeAll(
  change: Change,
  messages: readonly MessageToStore[],
): Promise<readonly MessageNames[]> {
  const { tx } = change;
  const organization = messages[0]?.organization_id ?? "";
  const [inboxes, known] = await together(
    readInboxes(tx, organization, messages),
    readNames(tx, organization, messages),
  );
  // The sender of a message that is stored already must not become a new contact: the contact was erased or
  // has another number since.
  const unknown = messages.filter(({ message }) => !known.has(message.channel_message_id));
  const placed: PlacedMessage[] = [];
  for (const group of withoutSharedKeys(unknown, identityKeys)) {
    placed.push(...(await placeMessages(change, group, inboxes)));
  }
  const received: StoredMessage[] = [];
  // A message is inserted after an earlier one of its conversation, which it may quote.
  for (const group of withoutSharedKeys(placed, messageKeys)) {
    const inserted = await insertPlaced(change, organization, group);
    await recordGroup(change, organization, inserted);
    received.push(...inserted);
  }
  // For all together, because the channel's ids are locked in their order.
  await applyReceiptsOfEchoes(change, organization, received.filter(isEcho));
  // At the end, because a confirmation changes the wallet's balance, which sending locks after a
  // conversation. In another order, the two could deadlock.
  for (const one of received.filter((message) => !isEcho(message))) {
    await applyWords(change, one);
  }
  const names = received.map(
    ({ stored, names: ofOne }) => [stored.message.channel_message_id, ofOne] as const,
  );
  return requireNames(tx, messages, new Map([...known, ...names]));
}

async function insertPlaced(
  { tx, now }: Change,
  organization: string,
  placed: readonly PlacedMessage[],
): Promise<readonly StoredMessage[]> {
  const toInsert = placed.map(({ stored: { message }, ...target }) => ({ message, ...target }));
  const ids = await insertReceived(tx, { organization, now }, toInsert);
  return placed.flatMap((one) => {
    const message_id = ids.get(one.stored.message.channel_message_id);
    const conversation_id = one.conversation.id;
    return message_id === undefined ? [] : [{ ...one, names: { message_id, conversation_id } }];
  });
}

/** Records messages of which no two are of the same conversation. */
async function recordGroup(
  change: Change,
  organization: string,
  messages: readonly StoredMessage[],
): Promise<void> {
  for (const echo of messages.filter(isEcho)) {
    await recordEcho(change, echo);
  }
  await recordReceived(
    change,
    organization,
    messages.filter((message) => !isEcho(message)),
  );
}

const isEcho = ({ stored }: StoredMessage) => stored.message.is_echo === true;

/** The names of those messages that are stored, by the channel's id. */
async function readNames(
  tx: Transaction,
  organization: string,
  messages: readonly MessageToStore[],
): Promise<ReadonlyMap<string, MessageNames>> {
  const ids = messages.map(({ message }) => message.channel_message_id);
  const rows = await ofOrganization(tx, organization)
    .selectFrom("messages")
    .select(["channel_message_id", "id as message_id", "conversation_id"])
    .where(({ eb, fn, val }) => eb("channel_message_id", "=", fn.any(val(ids))))
    .execute();
  return new Map(rows.map(({ channel_message_id, ...names }) => [channel_message_id ?? "", names]));
}

/**
 * The names of all messages. Another process may have stored some of them since `readNames`; what this
 * transaction has changed of their senders, the other one has changed too.
 */
async function requireNames(
  tx: Transaction,
  messages: readonly MessageToStore[],
  known: ReadonlyMap<string, MessageNames>,
): Promise<readonly MessageNames[]> {
  const late = messages.filter(({ message }) => !known.has(message.channel_message_id));
  if (late.some(({ file }) => file !== null)) {
    throw new Error("The message was stored meanwhile, with another copy of its file.");
  }
  const [first] = late;
  const added = first ? await readNames(tx, first.organization_id, late) : new Map<string, MessageNames>();
  return messages.map(({ message: { channel_message_id: id } }) => {
    const names = known.get(id) ?? added.get(id);
    if (!names) {
      throw new Error(`The message ${id} was neither stored nor found.`);
    }
    return names;
  });
}

const identityKeys = ({ message: { from } }: MessageToStore) =>
  Object.entries(from).flatMap(([kind, value]) => (value ? [`${kind} ${value}`] : []));

const messageKeys = ({ stored: { message }, conversation }: PlacedMessage) => [
  conversation.id,
  message.channel_message_id,
];

/** Divides items into groups, in their order. In a group, no two items have the same key. */
function withoutSharedKeys<Item>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly string[],
): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  let used = new Set<string>();
  for (const item of items) {
    const keys = keysOf(item);
    if (groups.length === 0 || keys.some((key) => used.has(key))) {
      groups.push([]);
      used = new Set();
    }
    groups.at(-1)?.push(item);
    for (const key of keys) {
      used.add(key);
    }
  }
  return groups;
}
