/**
 * Tells the channel that a conversation was read, if the inbox wants that: after a person or an assistant
 * marked it as read, or answered. Reading a conversation through the API tells the channel nothing.
 *
 * A mark is sent by a job, which may send it twice after a crash and gives up after four attempts. The job
 * names the time up to which the conversation was read: a message that arrives later is not marked.
 * `read_marks` has the latest marked message of each conversation, so that a later job does not mark it
 * again.
 */
import { z } from "zod";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import { type NewJob, newJob } from "../../../../jobs/job.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import { channelOf, type InboxOfChannel, readAccount, readMarksOf } from "../../../account/inboxes/index.ts";
import { defineJob, type World } from "../../../foundation/kernel/index.ts";

const Payload = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  /** The time of the change by which the conversation was read. */
  read_at: z.string(),
  /** Whether an answer is yet to be written. */
  is_unanswered: z.boolean(),
});
type Payload = z.infer<typeof Payload>;

const timeoutMs = 10_000;

export const markReadJob = defineJob({
  name: "conversation.mark_read",
  payload: Payload,
  // A mark that arrives much later is of no use.
  maxAttempts: 4,

  async run(payload, world, { signal }) {
    const received = await findUnmarked(world, payload);
    if (!received) {
      return undefined;
    }
    const { channel: name, inbox_id, channel_message_id } = received;
    const marks = readMarksOf(world, received);
    const { organization_id, is_unanswered } = payload;
    const channel = channelOf(world, name);
    const account = await readAccount(world.database.queries, world, { organization_id, inbox_id });
    if (marks === "off" || !account || channel_message_id === null) {
      return undefined;
    }
    const mark = { account: account.account, channel_message_id };
    const isTyping = marks === "typing" && is_unanswered;
    await withDeadline(timeoutMs, [signal], (deadline) =>
      deadline.within(
        channel.markRead?.({ ...mark, isTyping }, { signal: deadline.signal }) ?? Promise.resolve(),
      ),
    );
    await storeMark(world, payload, received.id);
    return undefined;
  },
});

interface ReadConversation {
  readonly inbox: InboxOfChannel;
  readonly organization_id: string;
  readonly conversation_id: string;
  readonly now: Date;
  readonly isUnanswered: boolean;
}

/** The job that marks the conversation; none if the inbox does not want marks. */
export function newReadMarks(
  world: World,
  { inbox, now, isUnanswered, ...conversation }: ReadConversation,
): readonly NewJob[] {
  if (readMarksOf(world, inbox) === "off") {
    return [];
  }
  const payload = { ...conversation, read_at: now.toISOString(), is_unanswered: isUnanswered };
  const { organization_id, conversation_id } = conversation;
  // Marks of an organization wait for each other, not for its messages.
  const lane = `read-mark:${organization_id}`;
  return [
    newJob(markReadJob, payload, { lane, key: `read-mark:${conversation_id}`, subject: conversation_id }),
  ];
}

/** The latest message received up to `read_at`, unless it is marked already or its contact is blocked. */
async function findUnmarked(world: World, { organization_id, conversation_id, read_at }: Payload) {
  const received = await ofOrganization(world.database.queries, organization_id)
    .selectFrom("messages")
    .innerJoin("conversations", (join) => join.on(refersTo("messages.conversation_id", "conversations")))
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .leftJoin("read_marks", (join) =>
      join
        .onRef("read_marks.organization_id", "=", "messages.organization_id")
        .onRef("read_marks.conversation_id", "=", "messages.conversation_id"),
    )
    .select(["messages.id", "messages.channel_message_id", "conversations.inbox_id"])
    .select(["inboxes.channel", "inboxes.settings", "read_marks.message_id as marked_id"])
    .where("messages.conversation_id", "=", conversation_id)
    .where("messages.direction", "=", "inbound")
    .where("messages.created_at", "<=", read_at)
    .where("contacts.blocked_at", "is", null)
    .orderBy("messages.id", "desc")
    .limit(1)
    .executeTakeFirst();
  // Ids are in the order of their times: a later message may have been marked meanwhile.
  return received && received.id > (received.marked_id ?? "") ? received : undefined;
}

async function storeMark(
  world: World,
  { organization_id, conversation_id }: Payload,
  message_id: string,
): Promise<void> {
  await world.database.transaction((tx) =>
    tx
      .insertInto("read_marks")
      .values({ organization_id, conversation_id, message_id })
      .onConflict((conflict) =>
        conflict.columns(["organization_id", "conversation_id"]).doUpdateSet({ message_id }),
      )
      .execute(),
  );
}
