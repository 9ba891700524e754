/** Takes what a channel hears: inbound messages and receipts. Safe to repeat. */

import { fail } from "../../../tools/failure.ts";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { Inbound, Receipt } from "../../ports/channel.ts";
import { changeContact, findOrCreateContact } from "../contacts.ts";
import { getInbox, noteInbound, openThread } from "../conversations/index.ts";
import { emit } from "../core/events.ts";
import type { Work } from "../core/module.ts";
import type { World } from "../core/world.ts";
import { applyParked, lockMessage, move, receiptFact } from "./progress.ts";

/** Stores an inbound message with its contact and conversation, once for each channel id. */
export async function receiveMessage(world: World, inbound: Inbound) {
  return world.database.transaction(async (tx) => {
    const { organization_id: organization } = inbound;
    const now = world.now();
    const inbox = await getInbox(tx, organization, inbound.to);
    if (!inbox) {
      throw fail("no_inbox");
    }
    const { contact } = await findOrCreateContact(tx, {
      organization,
      phone_number: inbound.from,
      name: inbound.name,
      now,
    });
    if (contact.name === null && inbound.name !== null) {
      await changeContact(tx, organization, contact.id, { name: inbound.name }, now);
    }
    const thread = await openThread(tx, { organization, inbox_id: inbox.id, contact_id: contact.id, now });
    const { type, ...content } = inbound.content;
    const stored = await tx
      .insertInto("messages")
      .values({
        organization_id: organization,
        id: newId("msg", now),
        conversation_id: thread.id,
        direction: "inbound",
        type,
        content: JSON.stringify(content),
        from: inbound.from,
        to: inbox.phone_number,
        status: "received",
        channel_message_id: inbound.channel_message_id,
        created_at: now.toISOString(),
      })
      .onConflict((conflict) => conflict.columns(["organization_id", "channel_message_id"]).doNothing())
      .returning(["id", "conversation_id"])
      .executeTakeFirst();
    if (!stored) {
      return known(tx, inbound);
    }
    await noteInbound({ tx, world, now }, thread, inbound.occurred_at);
    await emit(tx, world, {
      type: "message.received",
      organization_id: organization,
      order: thread.id,
      data: {
        message_id: stored.id,
        conversation_id: thread.id,
        from: inbound.from,
        type,
        ...("text" in inbound.content ? { text: inbound.content.text } : {}),
      },
    });
    return { message_id: stored.id, conversation_id: thread.id };
  });
}

/** Applies receipts; one whose message is not there yet waits for it. */
export async function receiveReceipts(world: World, receipts: readonly Receipt[]): Promise<void> {
  for (const receipt of receipts) {
    const isApplied = await world.database.transaction((tx) => applyReceipt(tx, world, receipt));
    if (!isApplied) {
      await world.database.transaction((tx) => unparkIfThere(tx, world, receipt));
    }
  }
}

/** False when the message is not there, and the receipt waits for it. */
async function applyReceipt(tx: Transaction, world: World, receipt: Receipt): Promise<boolean> {
  const id = receipt.token ?? (await idByChannel(tx, receipt));
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (!message) {
    await park(tx, receipt, world.now());
    return false;
  }
  const { channel_message_id } = receipt;
  await move(tx, world, message, { ...receiptFact(receipt), channel_message_id });
  return true;
}

/** The message may have come between our look and our parking: then nobody else would look again. */
async function unparkIfThere(tx: Transaction, world: World, receipt: Receipt): Promise<void> {
  const id = await idByChannel(tx, receipt);
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (message) {
    await applyParked(tx, world, message);
  }
}

/** A receipt whose message has not come in this time never will. */
const parkedForMs = 7 * 24 * 3_600_000;

export const forgetParked: Work<unknown> = {
  name: "receipt.forget",
  schedule: "17 * * * *",

  async run(_, world) {
    const before = new Date(world.now().getTime() - parkedForMs).toISOString();
    await world.database.queries.deleteFrom("parked_receipts").where("parked_at", "<", before).execute();
    return undefined;
  },
};

async function idByChannel(tx: Transaction, receipt: Receipt): Promise<string | undefined> {
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

async function known(tx: Transaction, inbound: Inbound) {
  const { id, conversation_id } = await tx
    .selectFrom("messages")
    .select(["id", "conversation_id"])
    .where("organization_id", "=", inbound.organization_id)
    .where("channel_message_id", "=", inbound.channel_message_id)
    .executeTakeFirstOrThrow();
  return { message_id: id, conversation_id };
}
