/**
 * Stores messages of one person from the time before the inbox was connected, in the place of their own time.
 *
 * They change nothing else: no event, no routing, no window, no unread mark, no price, and neither flows nor
 * the chatbot get them. A conversation that they begin is closed.
 */
import { ofOrganization } from "../../../../../database/query/index.ts";
import type { PastMessage } from "../../../../../ports/channel/received.ts";
import { commitUpload } from "../../../../content/uploads/index.ts";
import { type Change, system, type World } from "../../../../foundation/kernel/index.ts";
import { findOrCreateContact, senderOf } from "../../../contacts/index.ts";
import { recordPast } from "../../../conversations/index.ts";
import { replaceWords } from "../../reading/index.ts";
import { summaryOf } from "../../wording/index.ts";
import { insertReceived, type MessageToStore } from "../store/index.ts";

export type PastMessageToStore = MessageToStore & Pick<PastMessage, "status">;

/** The type that the channel gives to a message whose content it reports later. */
const placeholder = "media_placeholder";

/** All of one person. False if the person of a message is neither known nor named by it. */
export async function importMessages(world: World, past: readonly PastMessageToStore[]): Promise<boolean> {
  return world.database.transaction(async (tx) => {
    const change = { tx, world, now: world.now(), actor: system };
    const known = await lockKnown(change, past);
    const isKnown = ({ message }: PastMessageToStore) => known.has(message.channel_message_id);
    for (const one of past) {
      const stored = known.get(one.message.channel_message_id);
      if (stored?.content.unsupported?.type === placeholder) {
        await fillPlaceholder(change, stored.id, one);
      }
    }
    const unknown = past.filter((one) => !isKnown(one));
    const [first] = unknown;
    if (first === undefined) {
      return true;
    }
    return senderOf(first.message.from) === "" ? false : storeNew(change, first, unknown);
  });
}

/** The messages that are stored already, by the channel's id. */
async function lockKnown({ tx }: Change, past: readonly PastMessageToStore[]) {
  const ids = past.map(({ message }) => message.channel_message_id);
  const rows = await ofOrganization(tx, past[0]?.organization_id ?? "")
    .selectFrom("messages")
    .select(["id", "content", "channel_message_id"])
    .where(({ eb, fn, val }) => eb("channel_message_id", "=", fn.any(val(ids))))
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.channel_message_id, row]));
}

async function storeNew(
  change: Change,
  { organization_id: organization, inbox_id, message: { from: identities } }: PastMessageToStore,
  past: readonly PastMessageToStore[],
): Promise<boolean> {
  const { tx, now } = change;
  const inbox = await ofOrganization(tx, organization)
    .selectFrom("inboxes")
    .selectAll()
    .where("id", "=", inbox_id)
    .executeTakeFirst();
  if (!inbox) {
    return true;
  }
  for (const { file } of past) {
    if (file) {
      // First, because it locks the organization.
      await commitUpload(change, file, false);
    }
  }
  const { contact } = await findOrCreateContact(change, { organization, identities, isSilent: true });
  const latest = past
    .map(({ message }) => message.occurred_at)
    .reduce((one, other) => (one > other ? one : other));
  const owner = { organization, inbox_id, contact_id: contact.id };
  const conversation = { id: await recordPast(change, owner, latest) };
  for (const { message, status: pastStatus } of past) {
    // One by one, because a message may quote the one before.
    const inserted = await insertReceived(tx, { organization, now }, [
      { message, inbox, conversation, pastStatus },
    ]);
    for (const id of inserted.values()) {
      await replaceWords(tx, { organization_id: organization, id });
    }
  }
  return true;
}

async function fillPlaceholder(
  change: Change,
  id: string,
  { organization_id, message, file }: PastMessageToStore,
): Promise<void> {
  const { tx } = change;
  if (file) {
    await commitUpload(change, file, false);
  }
  const { type, ...parts } = message.content;
  const content = { ...parts, ...message.details, ...summaryOf(message.content), imported: true };
  await ofOrganization(tx, organization_id)
    .updateTable("messages")
    .set({ type, content: JSON.stringify(content) })
    .where("id", "=", id)
    .execute();
  await replaceWords(tx, { organization_id, id });
}
