/** What a stored message changes: its conversation, the consent of its contact, and events. */
import type { ReceivedContent } from "../../../../../ports/channel/message-content.ts";
import { capabilitiesOf } from "../../../../account/inboxes/index.ts";
import type { Change, Transaction, World } from "../../../../foundation/kernel/index.ts";
import { addressAmong, senderOf } from "../../../contacts/index.ts";
import { recordInbound, recordOutbound, requireConversation } from "../../../conversations/index.ts";
import { applyConsentWords } from "../../consent/index.ts";
import { applyParkedReceipts, applyUpdates, lockMessages } from "../../progress/index.ts";
import { getWaiters } from "../../waiting/index.ts";
import { type MessageNames, type MessageToStore, phoneOf, type StoredMessage } from "./message.ts";

/** Expects messages of which no two are of the same conversation. */
export async function recordReceived(
  change: Change,
  organization: string,
  messages: readonly StoredMessage[],
): Promise<void> {
  const { tx, world } = change;
  const facts = messages.map(({ stored: { message }, contact, conversation }) => ({
    conversation,
    at: message.occurred_at,
    isBlocked: contact.blocked_at !== null,
    referral: message.details?.referral,
  }));
  await recordInbound(change, organization, facts);
  for (const { stored, names, conversation } of messages) {
    tx.afterCommit(() => getWaiters(world).notify(organization, conversation.id));
    emitReceived(tx, world, stored, names);
  }
}

/** An answer by a person: it ends the flows and the bot of the conversation. */
export async function recordEcho(change: Change, { stored, names, inbox }: StoredMessage): Promise<void> {
  const { tx, world, now } = change;
  const { organization_id: organization, message } = stored;
  const { message_id, conversation_id } = names;
  const conversation = await requireConversation(tx, organization, conversation_id, { locks: true });
  const sent = { conversation, actor: phoneOf(inbox), now, isAnswer: true };
  await recordOutbound({ tx, world }, [sent]);
  const messages = await lockMessages(tx, { organization, ids: [message_id] });
  const { channel_message_id, occurred_at: at } = message;
  await applyUpdates(tx, world, {
    messages,
    updates: [{ message_id, type: "sent", at, channel_message_id }],
  });
}

/** Applies the receipts that arrived before their echoes. */
export async function applyReceiptsOfEchoes(
  { tx, world }: Change,
  organization: string,
  echoes: readonly StoredMessage[],
): Promise<void> {
  if (echoes.length > 0) {
    const ids = echoes.map(({ names }) => names.message_id);
    const messages = await lockMessages(tx, { organization, ids });
    await applyParkedReceipts(tx, world, { organization, messages });
  }
}

/** Changes the consent if a text is a stop or start word. */
export async function applyWords(
  change: Change,
  { stored, inbox, contact, conversation }: StoredMessage,
): Promise<void> {
  const { content, from, occurred_at: at } = stored.message;
  if (content.type === "text") {
    const to = addressAmong(capabilitiesOf(change.world, inbox).addresses, from)?.value ?? null;
    await applyConsentWords(change, { inbox, contact, conversation, text: content.text.body, to, at });
  }
}

/** The link to a file expires, so events have none. */
function withoutFile(content: ReceivedContent) {
  return "media" in content || "unsupported" in content ? { type: content.type } : content;
}

function emitReceived(
  tx: Transaction,
  world: World,
  { organization_id, message }: MessageToStore,
  names: MessageNames,
): void {
  const { type, ...parts } = withoutFile(message.content);
  const { channel_data: _, imported: __, ...details } = message.details ?? {};
  tx.afterCommit(() => world.metrics.message("received"));
  tx.emit({
    type: "message.received",
    organization_id,
    order: names.conversation_id,
    data: {
      ...names,
      from: senderOf(message.from),
      type,
      ...parts,
      ...details,
    },
  });
}
