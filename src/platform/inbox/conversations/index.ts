/** Conversations: one for each contact and inbox, with its status, agent and 24-hour service window. */

import { type Expression, type RawBuilder, sql } from "kysely";
import { conversations as contract } from "../../../../tools/conversations.ts";
import { routing as routingContract } from "../../../../tools/routing.ts";
import { newId } from "../../../database/id.ts";
import { columnsOf, ofOrganization, recordset, rowsOf } from "../../../database/query/index.ts";
import { capacityFreed } from "../../account/users.ts";
import {
  type Change,
  implement,
  isListenedTo,
  isPerson,
  type Transaction,
} from "../../foundation/kernel/index.ts";
import { erasesContact } from "../contacts/index.ts";
import { listAssignments, listDecisions, simulateRouting } from "../routing/index.ts";
import { findIdleTeams, memberAdded, teamDeleted } from "../teams/index.ts";
import { escalateJob } from "./apply-decisions.ts";
import { assign, transfer, unassign } from "./assign.ts";
import { detachConversations } from "./change.ts";
import { eraseConversations, findConversationIds } from "./erase.ts";
import {
  type ConversationRow,
  getConversationDetails,
  type InboxContacts,
  requireConversation,
  toNewConversations,
} from "./find.ts";
import { conversationsTaken, takesMessage } from "./hooks.ts";
import { addMember, serveQueueIfWaiting, serveQueueJob, sweepQueueJob } from "./queue/index.ts";
import { requestRouting, routeJob } from "./route.ts";
import { applyEvent, changedState, wakeJob } from "./status.ts";
import { updateConversation } from "./update.ts";

export { assign, assignByPolicy, findTeamOf, requireActive, unassign } from "./assign.ts";
export {
  type ConversationRow,
  findConversation,
  getConversationDetails,
  lockConversationSubject,
  lockConversations,
  lockOrCreateConversations,
  lockSubject,
  requireConversation,
  type Subject,
  unreadOf,
} from "./find.ts";
export { conversationsTaken, heldByBot, type TakenConversations, takesMessage } from "./hooks.ts";
export { conversationSources, conversationsOfContact } from "./query-sources.ts";
export { requestRouting } from "./route.ts";
export { allowedStatuses } from "./states.ts";
export { changedState, openIfPending, requireSettable } from "./status.ts";
export { updateConversation } from "./update.ts";
export { windowMs, windowOf } from "./window.ts";

// It shows texts of messages: the module messages implements it.
const { list_conversations: _, ...own } = contract;
// They need a conversation, which routing does not read.
const { simulate_routing, list_routing_decisions } = routingContract;

export const conversations = implement(
  { ...own, simulate_routing, list_routing_decisions },
  {
    tables: ["conversations"],
    operations: {
      async get_conversation({ id }, { db, organization, now }) {
        return { data: await getConversationDetails(db, organization, { id, now }) };
      },

      async update_conversation(input, context) {
        return { data: await updateConversation(input, context) };
      },

      async assign_conversation(input, context) {
        const { tx, organization, now } = context;
        const assignment = await assign(input, context);
        const { assigned_to, team_id } = input;
        const isForTeam = assigned_to === undefined && team_id !== undefined;
        const references = isForTeam ? [{ field: "team_id", id: team_id }] : [];
        const warnings = await findIdleTeams(tx, organization, { references, now });
        return { data: { ...assignment, warnings: [...warnings] } };
      },

      async unassign_conversation(input, context) {
        return { data: await unassign(input, context) };
      },

      async transfer_conversation(input, context) {
        return { data: await transfer(input, context) };
      },

      async list_assignments({ id, ...paging }, { db, organization }) {
        return listAssignments(db, await requireConversation(db, organization, id), paging);
      },

      async simulate_routing({ conversation_id, policy_id }, context) {
        const conversation = await requireConversation(context.db, context.organization, conversation_id);
        return { data: await simulateRouting(context, conversation, policy_id) };
      },

      async list_routing_decisions({ id, ...paging }, { db, organization }) {
        return listDecisions(db, await requireConversation(db, organization, id), paging);
      },
    },
    jobs: [routeJob, escalateJob, serveQueueJob, sweepQueueJob, wakeJob],
    erase: erasesContact({ find: findConversationIds, now: eraseConversations }),
    hooks: [
      capacityFreed.handledBy(serveQueueIfWaiting),
      memberAdded.handledBy(addMember),
      teamDeleted.handledBy(detachConversations),
    ],
  },
);

/** The conversation of a contact in an inbox, created as `open` if there is none; locked until the commit. */
export async function findOrCreateConversation(
  { tx }: Change,
  conversation: {
    organization: string;
    inbox_id: string;
    contact_id: string | Expression<string>;
    now: Date;
  },
) {
  const { organization, inbox_id, contact_id, now } = conversation;
  const id = newId("conv", now);
  const { is_listened_to, ...row } = await tx
    .insertInto("conversations")
    .values({
      organization_id: organization,
      id,
      inbox_id,
      contact_id,
      status: "open",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["organization_id", "contact_id", "inbox_id"])
        .doUpdateSet({ updated_at: now.toISOString() }),
    )
    .returningAll()
    .returning(
      isListenedTo(sql`conversations.organization_id`, ["conversation.created"]).as("is_listened_to"),
    )
    .executeTakeFirstOrThrow();
  if (row.id === id && is_listened_to) {
    const data = { conversation_id: id };
    tx.emit({ type: "conversation.created", organization_id: organization, order: id, data });
  }
  return row;
}

/**
 * Records a message from the contact: restarts the service window, reopens the conversation and requests
 * routing. A blocked contact's message starts nothing, and waits for no answer.
 */
export async function recordInbound(
  change: Change,
  conversation: ConversationRow,
  { at, isBlocked }: { readonly at: string; readonly isBlocked: boolean },
): Promise<void> {
  const needsAnswer = !isBlocked && conversation.status !== "spam";
  const updated = await ofOrganization(change.tx, conversation.organization_id)
    .updateTable("conversations")
    .set({
      last_message_at: latest("last_message_at", at),
      last_user_message_at: latest("last_user_message_at", at),
      // The contact has waited since the first of several unanswered messages.
      waiting_since: needsAnswer ? sql`coalesce(waiting_since, ${at}::timestamptz)` : null,
      is_unread: true,
      unread_count: sql`case when is_unread then unread_count + 1 else 1 end`,
    })
    .where("id", "=", conversation.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (isBlocked) {
    return;
  }
  const isTaken = await isTakenByFlowOrBot(change, updated);
  const current = await applyEvent(change, updated, { type: "inbound", isTaken });
  // A change of the status has requested routing already.
  if (current === updated) {
    await requestRouting(change, updated, "inbound");
  }
}

/** Looked up only where the status depends on it. */
async function isTakenByFlowOrBot(
  { tx, world }: Change,
  { organization_id: organization, id: conversation_id, status, opens_on_answer }: ConversationRow,
): Promise<boolean> {
  const isDecisive = status === "closed" || (status === "pending" && opens_on_answer);
  const takers = isDecisive ? await takesMessage.run(world, tx, { organization, conversation_id }) : [];
  return takers.includes(true);
}

/** What a message to the contact needs of its conversation. */
export type OutboundConversation = Pick<
  ConversationRow,
  | "organization_id"
  | "id"
  | "status"
  | "snoozed_until"
  | "opens_on_answer"
  | "last_user_message_at"
  | "may_be_automated"
>;

/**
 * Records a message to the contact; it does not restart the service window. The conversation is open only
 * if a person replied, and the contact has been answered only by a person's own words: a template is often
 * sent by a program, and not about what the contact wrote. A person's message ends the flows and the bot
 * of the conversation.
 * @returns the statement that stores the times, to be made part of the one that stores the message.
 */
export async function recordOutbound(
  change: Change,
  conversation: OutboundConversation,
  { at, isTemplate }: { readonly at: string; readonly isTemplate: boolean },
): Promise<RawBuilder<unknown>> {
  const { organization_id, id } = conversation;
  const isReply = isPerson(change.actor);
  if (isReply && changedState(conversation, { type: "reply" })) {
    const locked = await requireConversation(change.tx, organization_id, id, { locks: true });
    await applyEvent(change, locked, { type: "reply" });
  }
  if (isReply && conversation.may_be_automated) {
    await conversationsTaken.run(change.world, change, { organization: organization_id, answered: [id] });
  }
  const reply = sql`
    last_agent_message_at = ${latest("last_agent_message_at", at)}, is_unread = false, may_be_automated = false,`;
  return sql`
    update conversations set ${isReply ? reply : sql``} ${isReply && !isTemplate ? sql`waiting_since = null,` : sql``}
      last_message_at = ${latest("last_message_at", at)}, updated_at = ${at}::timestamptz
    where organization_id = ${organization_id} and id = ${id}
  `;
}

/** Records that the bot has answered all that the contact wrote. The conversation is locked. */
export async function recordAnswer(
  { tx }: Change,
  { organization_id, id }: Pick<ConversationRow, "organization_id" | "id">,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("conversations")
    .set({ waiting_since: null })
    .where("id", "=", id)
    .execute();
}

/**
 * The conversations of contacts with an inbox, each of which gets a message that starts nothing; by contact.
 * A new one is pending until the contact answers.
 */
export async function recordBulkOutbound(
  tx: Transaction,
  inboxContacts: InboxContacts,
): Promise<ReadonlyMap<string, string>> {
  const { organization, inbox_id, now } = inboxContacts;
  const at = now.toISOString();
  const rows = toNewConversations(inboxContacts);
  const { rows: recorded } = await rowsOf(columnsOf("conversations", "contact_id", "id"))`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, opens_on_answer, last_message_at, created_at, updated_at)
    select ${organization}, id, ${inbox_id}, contact_id, 'pending', true, ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from ${recordset("contact", columnsOf("conversations", "contact_id", "id"), rows)}
    on conflict (organization_id, contact_id, inbox_id) do update
    set last_message_at = greatest(conversations.last_message_at, excluded.last_message_at), updated_at = excluded.updated_at
    returning contact_id, id
  `.execute(tx);
  return new Map(recorded.map(({ contact_id, id }) => [contact_id, id]));
}

type TimeColumn = "last_message_at" | "last_user_message_at" | "last_agent_message_at";

function latest(column: TimeColumn, at: string) {
  return sql<string>`greatest(${sql.ref(column)}, ${at}::timestamptz)`;
}
