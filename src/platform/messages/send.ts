/** Queues a message: finds or creates its contact and thread, and promises the delivery. */
import type { z } from "zod";
import { fail } from "../../../tools/failure.ts";
import type { messages as contract } from "../../../tools/messages.ts";
import type { Transaction } from "../../database/database.ts";
import { findOrCreateContact } from "../contacts.ts";
import { getInbox, isWindowStrict, noteOutbound, openThread, windowOf } from "../conversations/index.ts";
import { normalizePhone } from "../core/phone.ts";
import { freshId, type WriteContext } from "../core/world.ts";
import { deliver } from "./deliver.ts";
import { type MediaType, mediaOf } from "./media.ts";

type Input = z.output<typeof contract.send_message.input>;

export async function queueMessage(input: Input, { tx, world, organization, now }: WriteContext) {
  const phone_number = normalizePhone(input.to, "to");
  if (input.type === "template") {
    // Until templates are built there are none, approved or not.
    throw fail("template_not_approved", { name: input.template?.name, language: input.template?.language });
  }
  const inbox = await getInbox(tx, organization);
  if (!inbox) {
    throw fail("no_inbox");
  }
  const content = await contentOf(tx, organization, input);
  const { contact } = await findOrCreateContact(tx, { organization, phone_number, now });
  const thread = await openThread(tx, { organization, inbox_id: inbox.id, contact_id: contact.id, now });
  const { is_within_24h_window: isOpen, window_expires_at } = windowOf(thread, now);
  if (!isOpen && isWindowStrict(inbox)) {
    throw fail("outside_service_window", { window_expired_at: window_expires_at });
  }
  const message = await tx
    .insertInto("messages")
    .values({
      organization_id: organization,
      id: freshId({ now }, "msg"),
      conversation_id: thread.id,
      direction: "outbound",
      type: input.type,
      content: JSON.stringify(content),
      from: inbox.phone_number,
      to: phone_number,
      status: "queued",
      created_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await noteOutbound(tx, thread, now.toISOString());
  await world.jobs.enqueue(tx, {
    name: deliver.name,
    payload: { organization_id: organization, message_id: message.id },
    organization_id: organization,
    lane: `channel:${inbox.id}`,
    key: thread.id,
  });
  return { ...message, ...(isOpen ? {} : { warnings: ["outside_service_window"] }) };
}

/** What is stored beside the type, in the shape that the channel port takes. */
async function contentOf(tx: Transaction, organization: string, input: Input): Promise<object> {
  if (input.type === "text") {
    return { text: input.text };
  }
  if (input.type === "interactive") {
    return { interactive: input.interactive };
  }
  const { caption, file_name, media_url = "" } = input;
  // Text, templates and choices were seen to above.
  const type = input.type as MediaType;
  return { media: await mediaOf(tx, { organization, type, media_url, caption, file_name }) };
}
