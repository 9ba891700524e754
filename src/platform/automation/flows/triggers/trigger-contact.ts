/**
 * The job for an event of a contact. Starts the matching flows in the contact's latest conversation, or in a
 * new conversation that is pending until the contact writes. The job may be repeated: an event starts a flow
 * once.
 */
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { getInbox } from "../../../account/inboxes/index.ts";
import { defineJob, type OrganizationChange, system } from "../../../foundation/kernel/index.ts";
import {
  type ConversationRow,
  findConversation,
  lockOrCreateConversations,
} from "../../../inbox/conversations/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";
import { createAdvanceJob, lockReachable } from "../run/index.ts";
import { findEnabled, logSkipped, matchingOf, startMatching } from "./matching.ts";

const Payload = z.object({
  organization_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  contact_id: z.string(),
  tags: z.array(z.string()).default([]),
});
type Payload = z.infer<typeof Payload>;

export const triggerContactJob = defineJob<Payload>({
  name: "flow.trigger_contact",
  payload: Payload,

  async run(payload, world) {
    const { organization_id: organization } = payload;
    await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system, organization };
      await react(change, payload);
    });
    return undefined;
  },
});

async function react(
  change: OrganizationChange,
  { event_id, contact_id, ...occurrence }: Payload,
): Promise<void> {
  const { tx, organization } = change;
  if (!(await lockReachable(change, organization, [contact_id])).has(contact_id)) {
    return;
  }
  const flows = await findEnabled(tx, organization);
  const contactOccurrence = { ...occurrence, text: null, matches: () => false };
  for (const flow of await matchingOf(flows, contactOccurrence)) {
    const conversation = await lockConversation(change, flow, contact_id);
    if (!conversation || conversation.status === "spam") {
      logSkipped(change, flow, { contact_id, reason: conversation ? "spam" : "no_inbox" });
    } else {
      const [started] = await startMatching(change, flow, [{ conversation, event_id, message_id: null }]);
      const jobs = started && started !== "started_before" ? [createAdvanceJob(started)] : [];
      await tx.enqueue(jobs);
    }
  }
}

/**
 * Locks the latest conversation in the flow's inbox, or in any inbox. Returns undefined if there is no inbox
 * for a new conversation.
 */
async function lockConversation(
  { tx, organization, now }: OrganizationChange,
  { inbox_id }: FlowWithVersion,
  contact_id: string,
): Promise<ConversationRow | undefined> {
  const latest = await ofOrganization(tx, organization)
    .selectFrom("conversations")
    .select("id")
    .where("contact_id", "=", contact_id)
    .$if(inbox_id !== null, (rows) => rows.where("inbox_id", "=", inbox_id))
    .orderBy("last_message_at", (order) => order.desc().nullsLast())
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (latest) {
    return findConversation(tx, organization, latest.id, { locks: true });
  }
  const id = inbox_id ?? (await getInbox(tx, organization))?.id;
  const made = { organization, inbox_id: id ?? "", contact_ids: [contact_id], now };
  return id === undefined ? undefined : (await lockOrCreateConversations(tx, made))[0];
}
