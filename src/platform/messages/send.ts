/** Queues a message: finds or creates its contact and thread, and promises the delivery. */
import type { z } from "zod";
import { fail, failField } from "../../../tools/errors.ts";
import type { messages as contract } from "../../../tools/messages/index.ts";
import { afterCommit, type Transaction } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import { findByBsuid, findOrCreateContact, isBsuid, normalizePhone } from "../contacts/index.ts";
import { noteOutbound, openThread, windowOf } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import { freshId, type World, type WriteContext } from "../kernel/index.ts";
import { deliver } from "./deliver.ts";
import { type MediaType, mediaOf } from "./media.ts";

type Input = z.output<typeof contract.send_message.input>;

export async function queueMessage(input: Input, context: WriteContext) {
  const { tx, world, organization, now } = context;
  if (input.type === "template") {
    // Until templates are built there are none, approved or not.
    throw fail("template_not_approved", { name: input.template?.name, language: input.template?.language });
  }
  const content = await contentOf(tx, organization, input);
  const { contact, to } = await findRecipient(input.to, context);
  const inbox = await chooseInbox(tx, { organization, contact_id: contact.id, inbox_id: input.inbox_id });
  const thread = await openThread(tx, { organization, inbox_id: inbox.id, contact_id: contact.id, now });
  const { is_within_24h_window: isOpen, window_expires_at } = windowOf(thread, now);
  if (!isOpen && isWindowStrict(inbox)) {
    throw fail("outside_service_window", { window_expired_at: window_expires_at });
  }
  const message = await queue(tx, world, {
    inbox,
    thread,
    to,
    type: input.type,
    content,
    now,
  });
  await noteOutbound({ tx, world, now }, thread, now.toISOString());
  return { ...message, ...(isOpen ? {} : { warnings: ["outside_service_window"] }) };
}

/** A number is anybody's; a business-scoped id is known only of a contact who wrote. */
async function findRecipient(to: string, { tx, organization, now }: WriteContext) {
  if (!isBsuid(to)) {
    const phone_number = normalizePhone(to, "to");
    const { contact } = await findOrCreateContact(tx, { organization, phone_number, now });
    return { contact, to: phone_number };
  }
  const contact = await findByBsuid(tx, organization, to);
  if (!contact) {
    throw failField("to", "contact_not_found");
  }
  return { contact, to };
}

interface Outgoing {
  readonly inbox: { readonly id: string; readonly phone_number: string };
  readonly thread: { readonly id: string; readonly organization_id: string };
  readonly to: string;
  readonly type: Input["type"];
  readonly content: Record<string, unknown>;
  readonly now: Date;
}

/** Stores a message of a thread and promises its delivery, behind those that were queued there before. */
export async function queue(tx: Transaction, world: World, outgoing: Outgoing) {
  const { inbox, thread, to, type, content, now } = outgoing;
  const { organization_id } = thread;
  const message = await tx
    .insertInto("messages")
    .values({
      organization_id,
      id: freshId({ now }, "msg"),
      conversation_id: thread.id,
      direction: "outbound",
      type,
      content: JSON.stringify(content),
      from: inbox.phone_number,
      to,
      status: "queued",
      created_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await world.jobs.enqueue(tx, {
    name: deliver.name,
    payload: { organization_id, message_id: message.id },
    organization_id,
    lane: `channel:${inbox.id}`,
    key: thread.id,
  });
  afterCommit(tx, () => world.metrics.message("queued"));
  return message;
}

/** The inbox that the caller names, or that of the contact's latest thread, or the first one. */
async function chooseInbox(
  tx: Transaction,
  wanted: { organization: string; contact_id: string; inbox_id: string | undefined },
) {
  const { organization, contact_id, inbox_id } = wanted;
  const inbox = await tx
    .selectFrom("inboxes")
    .leftJoin("conversations", (join) =>
      join.on(refersTo("conversations.inbox_id", "inboxes")).on("conversations.contact_id", "=", contact_id),
    )
    .selectAll("inboxes")
    .where("inboxes.organization_id", "=", organization)
    .$if(inbox_id !== undefined, (query) => query.where("inboxes.id", "=", inbox_id ?? ""))
    .orderBy("conversations.last_message_at", (order) => order.desc().nullsLast())
    .orderBy("inboxes.id")
    .limit(1)
    .executeTakeFirst();
  if (!inbox) {
    throw inbox_id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  return inbox;
}

/** What is stored beside the type, in the shape that the channel port takes. */
async function contentOf(
  tx: Transaction,
  organization: string,
  input: Input,
): Promise<Record<string, unknown>> {
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
