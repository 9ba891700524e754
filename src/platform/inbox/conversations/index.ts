/** Conversations: one for each contact and inbox, with its status, agent and 24-hour service window. */

import { conversations as contract } from "../../../../tools/conversations.ts";
import { routing as routingContract } from "../../../../tools/routing.ts";
import { capacityFreed } from "../../account/users.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { erasesContact } from "../contacts/index.ts";
import {
  listAssignments,
  listDecisions,
  simulateNewConversation,
  simulateRouting,
} from "../routing/index.ts";
import { findIdleTeams, memberAdded, teamDeleted } from "../teams/index.ts";
import { escalateJob } from "./apply-decisions.ts";
import { assign, transfer, unassign } from "./assign.ts";
import { detachConversations } from "./change.ts";
import { eraseConversations, findConversationIds } from "./erase.ts";
import { getConversationDetails, requireConversation } from "./find/index.ts";
import { addMember, serveQueueIfWaiting, serveQueueJob, sweepQueueJob } from "./queue/index.ts";
import { requestRouting, routeJob } from "./route.ts";
import { wakeJob } from "./status.ts";

export { assign, assignByPolicy, findTeamOf, requireActive, unassign } from "./assign.ts";
export {
  type ConversationRow,
  findConversation,
  findOrCreateConversation,
  findOrCreateConversations,
  getConversationDetails,
  type LockedSubject,
  lockConversationSubject,
  lockConversationSubjects,
  lockConversations,
  lockInboxConversations,
  lockOrCreateConversations,
  lockSubject,
  lockSubjects,
  requireConversation,
  type Subject,
  unreadOf,
  windowMs,
  windowOf,
} from "./find/index.ts";
export { conversationsTaken, heldByBot, type TakenConversations, takesMessage } from "./hooks.ts";
export { conversationSources, conversationsOfContact } from "./query-sources.ts";
export { unreadBy } from "./reads.ts";
export {
  type OutboundConversation,
  recordAnswer,
  recordBulkOutbound,
  recordInbound,
  recordOutbound,
  recordPast,
} from "./record.ts";
export { requestRouting } from "./route.ts";
export { allowedStatuses } from "./states.ts";
export { changedState, openIfPending, requireSettable } from "./status.ts";
export { updateConversation } from "./update.ts";

// The module messages implements them: one shows texts of messages, the other marks messages as read.
const { list_conversations: _list, update_conversation: _update, ...own } = contract;
// They need a conversation, which routing does not read.
const { simulate_routing, list_routing_decisions } = routingContract;

export const conversations = implement(
  { ...own, simulate_routing, list_routing_decisions },
  {
    tables: ["conversations", "conversation_reads"],
    operations: {
      async get_conversation({ id }, { db, organization, now, caller }) {
        return { data: await getConversationDetails(db, organization, { id, now, reader: caller.user?.id }) };
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

      async simulate_routing({ conversation_id, new_conversation, policy_id }, context) {
        if (new_conversation !== undefined) {
          return { data: await simulateNewConversation(context, new_conversation, policy_id) };
        }
        // The input schema requires one of the two.
        const id = conversation_id ?? "";
        const conversation = await requireConversation(context.db, context.organization, id);
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
      teamDeleted.handledBy(async (change, team) =>
        requestRouting(change, await detachConversations(change, team), "reopen"),
      ),
    ],
  },
);
