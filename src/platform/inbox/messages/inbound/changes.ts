/**
 * Applies what a person does with an earlier message: a reaction, an edit or a deletion. Safe to repeat.
 *
 * A change is no message: the conversation is neither reopened nor routed nor unread, its window does not
 * start again, and neither flows nor the chatbot get it. Reports come twice and in any order. So the latest
 * change counts, and of changes of the same time the last call.
 */
import type { EventData } from "../../../../../tools/events.ts";
import { columnsOf, ofOrganization, type RowOf, rowsOf } from "../../../../database/query/index.ts";
import type { MessageChange } from "../../../../ports/channel/channel.ts";
import { withdrawFiles } from "../../../content/uploads/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { findContact, senderOf } from "../../contacts/index.ts";
import { replaceWords } from "../reading/index.ts";
import type { MessageNames } from "./store/index.ts";

const messageColumns = {
  ...columnsOf(
    "messages",
    "organization_id",
    "id",
    "conversation_id",
    "direction",
    "type",
    "from",
    "content",
  ),
  ...columnsOf("messages", "reactions", "edited_at", "deleted_at"),
  ...columnsOf("conversations", "contact_id"),
};

type Message = RowOf<typeof messageColumns>;

/** Without a channel, it is of a job of an earlier version, and the message may be of any channel. */
type ReportedChange = Omit<MessageChange, "channel"> & Partial<Pick<MessageChange, "channel">>;

interface ChangeOfMessage {
  readonly tx: Transaction;
  readonly world: World;
  readonly message: Message;
  readonly report: ReportedChange;
}

/**
 * Undefined if the message is not known, or if the sender of an edit or a deletion is not: a number may be
 * used before its owner's change to it is reported. `job_id` is the change's own job if no worker runs it.
 * The transaction deletes it.
 */
export async function applyChange(
  world: World,
  report: ReportedChange,
  job_id?: string,
): Promise<MessageNames | undefined> {
  return world.database.transaction(async (tx) => {
    if (job_id !== undefined) {
      tx.sendWithCommit(() => world.jobs.remove(tx, [job_id]));
    }
    const { organization_id: organization, from: identities } = report;
    const sender = await findContact(tx, { organization, identities });
    const message = await lockMessage(tx, report);
    const isReaction = report.change.type === "reaction";
    // Without a sender or a recipient, its contact has been erased.
    const isErased = message?.from === null;
    if (!message || !(sender || isReaction || isErased)) {
      return undefined;
    }
    // A person who hides the number may react to what was sent to it; who edits a message has written it.
    const isOfContact = sender ? sender.id === message.contact_id : isReaction;
    if (!isErased && isOfContact) {
      await (isReaction ? react : changeOwn)({ tx, world, message, report });
    }
    return { message_id: message.id, conversation_id: message.conversation_id };
  });
}

async function lockMessage(
  tx: Transaction,
  { organization_id, channel, channel_message_id }: ReportedChange,
): Promise<Message | undefined> {
  const { rows } = await rowsOf(messageColumns)`
    select messages.organization_id, messages.id, messages.conversation_id, messages.direction, messages.type,
      messages.content, messages.reactions, messages.edited_at, messages.deleted_at,
      case when conversations.erased_at is null then messages."from" end as "from", conversations.contact_id
    from messages
    join conversations on conversations.organization_id = messages.organization_id
      and conversations.id = messages.conversation_id
    join inboxes on inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
    where messages.organization_id = ${organization_id} and messages.channel_message_id = ${channel_message_id}
      and inboxes.channel = coalesce(${channel ?? null}, inboxes.channel)
    for update of messages
  `.execute(tx);
  return rows[0];
}

async function react({ tx, message, report }: ChangeOfMessage): Promise<void> {
  const { contact_id } = message;
  const { change_id, occurred_at: at, change } = report;
  const reactions = message.reactions ?? [];
  const former = reactions.find((one) => one.contact_id === contact_id);
  const emoji = change.type === "reaction" ? change.emoji : null;
  const isKnown = former?.at === at && former.ids.includes(change_id);
  if (isKnown || (former && Date.parse(former.at) > Date.parse(at))) {
    return;
  }
  const from = senderOf(report.from);
  const ids = former?.at === at ? [...former.ids, change_id] : [change_id];
  const others = reactions.filter((one) => one !== former);
  await update(tx, message, {
    reactions: JSON.stringify([...others, { contact_id, from, emoji, at, ids }]),
  });
  if (emoji !== (former?.emoji ?? null)) {
    const { organization_id, id: message_id, conversation_id } = message;
    const data = { message_id, conversation_id, from, emoji, timestamp: at };
    tx.emit({ type: "message.reaction", organization_id, order: conversation_id, data });
  }
}

/** An edit or a deletion, which only the sender can make. What was deleted stays deleted. */
async function changeOwn(received: ChangeOfMessage): Promise<void> {
  const { tx, message, report } = received;
  const { change_id, occurred_at: at } = report;
  if (message.direction !== "inbound" || message.deleted_at !== null) {
    return;
  }
  if (report.change.type === "delete") {
    await deleteContent(tx, message, at);
    emitEdited(received, { edited_at: message.edited_at, deleted_at: at });
    return;
  }
  const age = message.edited_at === null ? 1 : Date.parse(at) - Date.parse(message.edited_at);
  const ids = age === 0 ? (message.content.edit_ids ?? []) : [];
  const content = editedContent(message, report.change);
  if (content && age >= 0 && !ids.includes(change_id)) {
    const edited = { ...content, edit_ids: [...ids, change_id] };
    await update(tx, message, { content: JSON.stringify(edited), edited_at: at });
    await replaceWords(tx, message);
    emitEdited(received, { edited_at: at, deleted_at: null, text: content.text });
  }
}

/** Undefined if the message has no text or caption that could be replaced. */
function editedContent(
  { type, content }: Message,
  change: MessageChange["change"],
): Message["content"] | undefined {
  if (change.type === "edit" && type === "text") {
    return { ...content, text: { body: change.text } };
  }
  return change.type === "edit_caption" && content.media
    ? { ...content, media: { ...content.media, caption: change.caption } }
    : undefined;
}

/** The row stays, so that the conversation shows that there was a message. */
async function deleteContent(tx: Transaction, message: Message, at: string): Promise<void> {
  const { organization_id, content } = message;
  await update(tx, message, { content: "{}", deleted_at: at });
  await replaceWords(tx, message);
  if (content.media?.upload !== undefined) {
    await withdrawFiles(tx, organization_id, [content.media.upload]);
  }
}

interface Columns {
  readonly content?: string;
  readonly reactions?: string;
  readonly edited_at?: string;
  readonly deleted_at?: string;
}

async function update(tx: Transaction, { organization_id, id }: Message, columns: Columns): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("messages")
    .set(columns)
    .where("id", "=", id)
    .execute();
}

function emitEdited(
  { tx, message, report }: ChangeOfMessage,
  changed: Pick<EventData<"message.edited">, "edited_at" | "deleted_at" | "text">,
): void {
  const { organization_id, id: message_id, conversation_id, type } = message;
  const { text, ...times } = changed;
  tx.emit({
    type: "message.edited",
    organization_id,
    order: conversation_id,
    data: {
      message_id,
      conversation_id,
      from: senderOf(report.from),
      type,
      ...(text ? { text } : {}),
      ...times,
    },
  });
}
