/** Reads everything that is needed to act on a conversation. */
import { sql } from "kysely";
import type { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import { ofOrganization, readWithSnapshot, refersTo } from "../../../../database/query/index.ts";
import { channelOf, windowRuleOf } from "../../../account/inboxes/index.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { findAddress, serializeContact } from "../../contacts/index.ts";
import { getConversationDetails } from "../../conversations/index.ts";
import { readLatestNotes } from "../../notes.ts";
import { latestAssignment, whyUnassigned } from "../../routing/index.ts";
import { automationIn } from "../hooks.ts";
import type { MessageRow } from "../progress/index.ts";
import { serializeMessage } from "../serialize.ts";
import { cursorAt, openMessageCursors } from "../waiting/index.ts";
import { describeActions } from "./actions.ts";
import { describeWarnings } from "./warnings.ts";

type Input = z.output<typeof contract.get_conversation_context.input>;

/** list_notes returns all. */
const maxNotes = 10;

/** @throws Failure `conversation_not_found`. */
export async function readConversationContext({ id, messages: maxMessages }: Input, context: ReadContext) {
  const { caller, now, world } = context;
  const [conversation, assignment, parties, latest, notes, automation, cursors] = await Promise.all([
    getConversationDetails(context.db, context.organization, { id, now, reader: caller.user?.id }),
    latestAssignment(context.db, context.organization, id),
    readContactAndInbox(context, id),
    readLatest(context, id, maxMessages),
    readLatestNotes(context.db, { organization: context.organization, conversation_id: id, limit: maxNotes }),
    automationIn.run(world, context.db, { organization: context.organization, conversation_id: id }),
    openMessageCursors(world),
  ]);
  const waiting_reason = await whyUnassigned(context.db, conversation);
  const { channel, settings, health, ...contact } = parties;
  const address = await findAddress(context.db, world, { contact, channel });
  const windowRule = windowRuleOf(world, { channel, settings });
  const { tags: _tags, metadata: _metadata, blocked_reason: _reason, ...summary } = contact;
  const isContactShown = caller.scopes.has("contacts:read");
  const isInbound = ({ direction }: MessageRow) => direction === "inbound";
  // The latest received message is rarely older than the listed messages.
  const received = latest.rows.find(isInbound) ?? (await readLatestInbound(context, id));
  return {
    conversation,
    contact: serializeContact(isContactShown ? contact : summary),
    assignment,
    waiting_reason,
    flow_run: null,
    chatbot: null,
    ...Object.assign({}, ...automation),
    messages: latest.rows.reverse().map((row) => serializeMessage(world, { ...row, channel, health })),
    notes,
    actions: describeActions(
      {
        conversation,
        contact,
        isReachable: address !== undefined,
        channel: channelOf(world, channel),
        windowRule,
        tools: world.tools,
      },
      caller,
    ),
    warnings: describeWarnings({ contact, conversation, inbox: { settings, health }, windowRule, received }),
    cursor: cursors.write(cursorAt(latest.snapshot, now)),
  };
}

/** The contact, with the channel and settings of the inbox. */
async function readContactAndInbox({ db, organization }: ReadContext, id: string) {
  const row = await ofOrganization(db, organization)
    .selectFrom("conversations")
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .selectAll("contacts")
    .select(["inboxes.channel", "inboxes.settings", "inboxes.health"])
    .where("conversations.id", "=", id)
    .executeTakeFirst();
  if (!row) {
    throw fail("conversation_not_found");
  }
  return row;
}

/**
 * The latest messages, newest first, with the snapshot in which they were read: no later message is missed.
 */
function readLatest({ db, organization }: ReadContext, id: string, maxMessages: number) {
  const latest = ofOrganization(db, organization)
    .selectFrom("messages")
    .selectAll()
    .where("conversation_id", "=", id)
    .orderBy("id", "desc")
    .limit(maxMessages);
  return readWithSnapshot(db, latest, sql`id desc`);
}

async function readLatestInbound({ db, organization }: ReadContext, id: string) {
  return ofOrganization(db, organization)
    .selectFrom("messages")
    .select("content")
    .where("conversation_id", "=", id)
    .where("direction", "=", "inbound")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}
