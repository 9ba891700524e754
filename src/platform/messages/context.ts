/** All that is needed to act on a conversation, read at one moment. */
import { sql } from "kysely";
import type { z } from "zod";
import { fail } from "../../../tools/errors.ts";
import type { messages as contract } from "../../../tools/messages/index.ts";
import { readInSnapshot, refersTo } from "../../database/query/index.ts";
import { latestAssignment, showThread } from "../conversations/index.ts";
import type { ReadContext } from "../kernel/index.ts";
import { describeActions } from "./actions.ts";
import { show } from "./show.ts";
import { cursorAt, writeCursor } from "./waiting/index.ts";

type Input = z.output<typeof contract.get_conversation_context.input>;

/** @throws Failure `conversation_not_found`. */
export async function readContext({ id, messages: count }: Input, context: ReadContext) {
  const { caller, now, world } = context;
  const [conversation, assignment, parties, latest] = await Promise.all([
    showThread(context.db, context.organization, { id, now }),
    latestAssignment(context.db, context.organization, id),
    readParties(context, id),
    readLatest(context, id, count),
  ]);
  const { channel, settings, tags, metadata, ...contact } = parties;
  const isContactShown = caller.scopes.has("contacts:read");
  return {
    conversation,
    contact: isContactShown ? { ...contact, tags, metadata } : contact,
    assignment,
    messages: latest.rows.reverse().map(show),
    actions: describeActions(
      { conversation, contact, inbox: { channel, settings }, tools: world.tools },
      caller,
    ),
    cursor: writeCursor(cursorAt(latest.snapshot, now)),
  };
}

/** The contact, and what the inbox allows. */
async function readParties({ db, organization }: ReadContext, id: string) {
  const found = await db
    .selectFrom("conversations")
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .selectAll("contacts")
    .select(["inboxes.channel", "inboxes.settings"])
    .where("conversations.organization_id", "=", organization)
    .where("conversations.id", "=", id)
    .executeTakeFirst();
  if (!found) {
    throw fail("conversation_not_found");
  }
  return found;
}

/** The latest messages, newest first; the snapshot is the one in which they were read, so none is missed after it. */
function readLatest({ db, organization }: ReadContext, id: string, count: number) {
  const latest = db
    .selectFrom("messages")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("conversation_id", "=", id)
    .orderBy("id", "desc")
    .limit(count);
  return readInSnapshot(db, latest, sql`id desc`);
}
