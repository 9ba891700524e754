/** Stores many messages of a broadcast and enqueues their delivery, with as many statements as for one. */
import type { MessageCharge, SentTemplate } from "../../../../database/schema/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import { laneOf } from "../../../account/inboxes/index.ts";
import { freshId, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { recordBulkOutbound } from "../../conversations/index.ts";
import { deliverMessageJob } from "../delivery/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { insertMessages } from "./insert.ts";

interface BulkMessage {
  readonly contact_id: string;
  /** The contact's address. */
  readonly to: string;
  readonly template: SentTemplate;
  /** Held by the broadcast. */
  readonly charge: MessageCharge | null;
}

export interface BulkMessages {
  readonly organization: string;
  readonly broadcast_id: string;
  readonly inbox: { readonly id: string; readonly phone_number: string };
  readonly sent_by: MessageRow["sent_by"];
  readonly messages: readonly BulkMessage[];
}

/**
 * Their delivery waits behind every other message of the inbox.
 * @returns the ids of the messages, by contact.
 */
export async function enqueueBulkMessages(
  { tx, world, now }: { readonly tx: Transaction; readonly world: World; readonly now: Date },
  { organization, broadcast_id, inbox, sent_by, messages }: BulkMessages,
): Promise<ReadonlyMap<string, string>> {
  const contact_ids = messages.map(({ contact_id }) => contact_id);
  const conversations = await recordBulkOutbound(tx, { organization, inbox_id: inbox.id, contact_ids, now });
  const rows = messages.map(({ contact_id, to, template, charge }) => {
    const conversation_id = conversations.get(contact_id) ?? "";
    return { id: freshId({ now }, "msg"), contact_id, conversation_id, to, content: { template }, charge };
  });
  const jobs = rows.map(({ id: message_id, conversation_id: subject }) =>
    newJob(
      deliverMessageJob,
      { organization_id: organization, message_id },
      { lane: laneOf(inbox.id), subject, priority: "bulk" },
    ),
  );
  const common = {
    organization_id: organization,
    type: "template",
    from: inbox.phone_number,
    sent_by,
    broadcast_id,
    created_at: now.toISOString(),
  } as const;
  await together(
    tx.enqueue(jobs),
    insertMessages(
      tx,
      rows.map(({ contact_id: _, ...row }) => ({ ...row, ...common })),
    ),
  );
  tx.afterCommit(() => {
    for (const _ of rows) {
      world.metrics.message("queued");
    }
  });
  return new Map(rows.map(({ contact_id, id }) => [contact_id, id]));
}
