/** Takes what a channel hears: inbound messages and receipts. Safe to repeat. */

import { fail } from "../../../../tools/errors.ts";
import { afterCommit, type Transaction } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import type { InboundMessage, Receipt } from "../../../ports/channel.ts";
import { changeContact, findOrCreateContact } from "../../contacts/index.ts";
import { findOrCreateConversation, recordInbound } from "../../conversations/index.ts";
import { getInbox } from "../../inboxes.ts";
import { emit, type ModuleJob, type World } from "../../kernel/index.ts";
import { applyParkedReceipts, applyStatusUpdate, lockMessage, toStatusUpdate } from "../progress.ts";
import { getWaiters } from "../waiting/index.ts";
import { applyConsentWords } from "./consent.ts";

/** Stores an inbound message with its contact and conversation, once for each channel id. */
export async function receiveMessage(world: World, inbound: InboundMessage) {
  return world.database.transaction(async (tx) => {
    const { organization_id: organization } = inbound;
    const now = world.now();
    const inbox = await getInbox(tx, organization, inbound.to);
    if (!inbox) {
      throw inbound.to === null ? fail("no_inbox") : fail("inbox_not_found", { param: "to" });
    }
    const contact = await findSender(tx, world, inbound);
    const conversation = await findOrCreateConversation(tx, {
      organization,
      inbox_id: inbox.id,
      contact_id: contact.id,
      now,
    });
    const message_id = await storeMessage(tx, inbound, { inbox, conversation, now });
    if (message_id === undefined) {
      return findExisting(tx, inbound);
    }
    await recordInbound({ tx, world, now }, conversation, inbound.occurred_at);
    afterCommit(tx, () => getWaiters(world).notify(organization, conversation.id));
    await emitReceived(tx, world, inbound, { message_id, conversation_id: conversation.id });
    if (inbound.content.type === "text") {
      const to = inbound.from ?? inbound.identities?.bsuid ?? null;
      await applyConsentWords(tx, world, {
        inbox,
        contact,
        conversation,
        text: inbound.content.text.body,
        to,
        now,
      });
    }
    return { message_id, conversation_id: conversation.id };
  });
}

/** The contact who wrote, found by any of their identities, with what this message adds to it. */
async function findSender(tx: Transaction, world: World, inbound: InboundMessage) {
  const { organization_id: organization, from: phone_number, identities, name } = inbound;
  const now = world.now();
  const wanted = { organization, phone_number, identities, name, now };
  const { contact, conflicting } = await findOrCreateContact(tx, wanted);
  if (conflicting.length > 0) {
    world.log.warn(
      { organization_id: organization, contact_id: contact.id, kinds: conflicting },
      "A message names its sender by what belongs to another contact: it stays there",
    );
  }
  return contact.name === null && name !== null
    ? changeContact({ tx, organization, now }, contact.id, { name })
    : contact;
}

interface InboundTarget {
  readonly inbox: { readonly phone_number: string };
  readonly conversation: { readonly id: string };
  readonly now: Date;
}

/** The new message's id; undefined if it is there already. */
async function storeMessage(
  tx: Transaction,
  inbound: InboundMessage,
  { inbox, conversation, now }: InboundTarget,
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
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "channel_message_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return stored?.id;
}

async function emitReceived(
  tx: Transaction,
  world: World,
  inbound: InboundMessage,
  ids: { message_id: string; conversation_id: string },
): Promise<void> {
  const { content } = inbound;
  emit(tx, world, {
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

/** The number, or what stands for it: the first two can be answered. */
function senderOf({ from, identities = {} }: InboundMessage): string {
  return from ?? identities.bsuid ?? identities.wa_id ?? identities.username ?? "";
}

/** Applies receipts; one whose message is not there yet waits for it. */
export async function receiveReceipts(world: World, receipts: readonly Receipt[]): Promise<void> {
  for (const receipt of receipts) {
    const isApplied = await world.database.transaction((tx) => applyReceipt(tx, world, receipt));
    if (!isApplied) {
      await world.database.transaction((tx) => applyParkedIfMessageExists(tx, world, receipt));
    }
  }
}

/** False when the message is not there, and the receipt waits for it. */
async function applyReceipt(tx: Transaction, world: World, receipt: Receipt): Promise<boolean> {
  const id = receipt.token ?? (await findIdByChannel(tx, receipt));
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (!message) {
    await park(tx, receipt, world.now());
    return false;
  }
  const { channel_message_id } = receipt;
  await applyStatusUpdate(tx, world, message, { ...toStatusUpdate(receipt), channel_message_id });
  return true;
}

/** The message may have come between our look and our parking: then nobody else would look again. */
async function applyParkedIfMessageExists(tx: Transaction, world: World, receipt: Receipt): Promise<void> {
  const id = await findIdByChannel(tx, receipt);
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (message) {
    await applyParkedReceipts(tx, world, message);
  }
}

/** A receipt whose message has not come in this time never will. */
const parkedForMs = 7 * 24 * 3_600_000;

export const deleteParkedReceiptsJob: ModuleJob<unknown> = {
  name: "receipt.forget",
  schedule: "17 * * * *",

  async run(_, world) {
    const before = new Date(world.now().getTime() - parkedForMs).toISOString();
    await world.database.queries.deleteFrom("parked_receipts").where("parked_at", "<", before).execute();
    return undefined;
  },
};

async function findIdByChannel(tx: Transaction, receipt: Receipt): Promise<string | undefined> {
  const row = await tx
    .selectFrom("messages")
    .select("id")
    .where("organization_id", "=", receipt.organization_id)
    .where("channel_message_id", "=", receipt.channel_message_id)
    .executeTakeFirst();
  return row?.id;
}

async function park(tx: Transaction, receipt: Receipt, now: Date): Promise<void> {
  await tx
    .insertInto("parked_receipts")
    .values({
      organization_id: receipt.organization_id,
      channel_message_id: receipt.channel_message_id,
      type: receipt.type,
      occurred_at: receipt.occurred_at,
      error: receipt.failure && JSON.stringify(receipt.failure),
      parked_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function findExisting(tx: Transaction, inbound: InboundMessage) {
  const { id, conversation_id } = await tx
    .selectFrom("messages")
    .select(["id", "conversation_id"])
    .where("organization_id", "=", inbound.organization_id)
    .where("channel_message_id", "=", inbound.channel_message_id)
    .executeTakeFirstOrThrow();
  return { message_id: id, conversation_id };
}
