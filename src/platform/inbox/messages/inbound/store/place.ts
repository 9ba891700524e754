/** Finds or creates what received messages belong to: the contacts and the conversations. */
import { fail } from "../../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../../database/query/index.ts";
import { together } from "../../../../../database/transaction.ts";
import { commitUpload } from "../../../../content/uploads/index.ts";
import type { Change, Transaction } from "../../../../foundation/kernel/index.ts";
import { changeContact, findOrCreateContacts } from "../../../contacts/index.ts";
import { findOrCreateConversations } from "../../../conversations/index.ts";
import type { InboxRow, MessageToStore, StoredMessage } from "./message.ts";

/** A message with what it belongs to. */
export type PlacedMessage = Omit<StoredMessage, "names">;

/** The inboxes of messages of one organization, by id. */
export async function readInboxes(
  tx: Transaction,
  organization: string,
  messages: readonly MessageToStore[],
): Promise<ReadonlyMap<string, InboxRow>> {
  const ids = [...new Set(messages.map(({ inbox_id }) => inbox_id))];
  const rows = await ofOrganization(tx, organization)
    .selectFrom("inboxes")
    .selectAll()
    .where(({ eb, fn, val }) => eb("id", "=", fn.any(val(ids))))
    .execute();
  return new Map(rows.map((inbox) => [inbox.id, inbox]));
}

/** Expects messages of which no two senders have the same identity. @throws Failure `inbox_not_found`. */
export async function placeMessages(
  change: Change,
  messages: readonly MessageToStore[],
  inboxes: ReadonlyMap<string, InboxRow>,
): Promise<readonly PlacedMessage[]> {
  const [first] = messages;
  if (!first) {
    return [];
  }
  for (const { file } of messages) {
    if (file) {
      // First, because it locks the organization.
      await commitUpload(change, file, false);
    }
  }
  const organization = first.organization_id;
  const addressed = messages.map((stored) => ({ stored, inbox: requireInbox(inboxes, stored.inbox_id) }));
  const contacts = await findSenders(change, organization, messages);
  const found = addressed.flatMap(({ stored, inbox }, index) => {
    const contact = contacts[index];
    return contact ? [{ stored, inbox, contact, contact_id: contact.id, inbox_id: inbox.id }] : [];
  });
  const conversationOf = await findOrCreateConversations(change, organization, found);
  return found.flatMap(({ stored, inbox, contact, ...key }) => {
    const conversation = conversationOf(key);
    return conversation ? [{ stored, inbox, contact, conversation }] : [];
  });
}

function requireInbox(inboxes: ReadonlyMap<string, InboxRow>, id: string): InboxRow {
  const inbox = inboxes.get(id);
  if (!inbox) {
    throw fail("inbox_not_found", { param: "inbox_id" });
  }
  return inbox;
}

/** Finds the contacts by any identity of the senders, or creates them, and adds the new identities. */
async function findSenders(change: Change, organization: string, messages: readonly MessageToStore[]) {
  const { world } = change;
  const people = messages.map(({ message: { from: identities, name } }) => ({ identities, name }));
  const found = await findOrCreateContacts(change, organization, people);
  return together(
    ...found.map(({ contact, conflicting }, index) => {
      if (conflicting.length > 0) {
        world.log.warn(
          { organization_id: organization, contact_id: contact.id, kinds: conflicting },
          "Some identities of the sender belong to another contact and were not moved",
        );
      }
      const name = people[index]?.name ?? null;
      return contact.name === null && name !== null
        ? changeContact({ ...change, organization }, contact.id, { name })
        : contact;
    }),
  );
}
