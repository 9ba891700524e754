/**
 * Reacts to a message with an emoji: the channel is called at once, and its answer is the caller's.
 *
 * A reaction is no message. It is kept with the message that it is about, beside those of the contact, and
 * changes neither the conversation nor what acts in it. The channel may get it twice, which changes nothing.
 */
import { z } from "zod";
import { fail, failField } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { ReactionResult } from "../../../ports/channel/marks.ts";
import { withDeadline } from "../../../time/deadline.ts";
import { channelOf, readAccount } from "../../account/inboxes/index.ts";
import { countPricelessMessage } from "../../account/rules/index.ts";
import { type OutwardContext, outward, type Transaction } from "../../foundation/kernel/index.ts";
import { requireConversation } from "../conversations/index.ts";
import { nameInSummary, readAddress, requireAllowedMessage, requireWindow } from "./outbound/index.ts";

const timeoutMs = 10_000;

const Intent = z.object({
  conversation_id: z.string(),
  message_id: z.string(),
  inbox_id: z.string(),
  channel: z.string(),
  from: z.string(),
  to: z.object({ kind: z.string(), value: z.string() }),
  channel_message_id: z.string(),
  emoji: z.string().nullable(),
});
type Intent = z.infer<typeof Intent>;

interface ReactionInput {
  readonly conversation_id: string;
  readonly message_id: string;
  readonly emoji: string | null;
}

export const reactToMessage = outward({
  intent: Intent,

  /**
   * @throws Failure `conversation_not_found`, `message_not_found`, `message_not_reactable`,
   * `contact_blocked`, `contact_unreachable`, `content_not_supported`, `outside_service_window`,
   * `not_allowed_by_rules`, `budget_reached`.
   */
  async begin(input: ReactionInput, { tx, world, organization, now, actor }): Promise<Intent> {
    const { conversation_id, message_id, emoji } = input;
    const conversation = await requireConversation(tx, organization, conversation_id);
    const channel_message_id = await requireReactable(tx, organization, input);
    const own = ofOrganization(tx, organization);
    const inbox = await own
      .selectFrom("inboxes")
      .select(["id", "channel", "phone_number", "settings", "health"])
      .where("id", "=", conversation.inbox_id)
      .executeTakeFirstOrThrow();
    const contact = await own
      .selectFrom("contacts")
      .select(["id", "name", "opted_out", "blocked_at"])
      .where("id", "=", conversation.contact_id)
      .executeTakeFirstOrThrow();
    if (contact.blocked_at !== null) {
      throw fail("contact_blocked", { contact_id: contact.id });
    }
    if (!channelOf(world, inbox.channel).react) {
      throw fail("content_not_supported", { content: "reactions" });
    }
    const sending = { tx, db: tx, world, organization, now, actor };
    const address = await readAddress(sending, { to: conversation_id });
    await requireAllowedMessage(sending, {
      recipient: { contact, inbox, conversation: null },
      address,
      found: { rules: [] },
      content: {},
    });
    await requireWindow(sending, { inbox, conversation });
    // A reaction counts when it is handed to the channel, as a message does. Its removal reaches nobody.
    if (emoji !== null) {
      await countPricelessMessage(sending);
    }
    const { channel, phone_number: from } = inbox;
    const target = { conversation_id, message_id, inbox_id: inbox.id, channel, from };
    return { ...target, to: address.to, channel_message_id, emoji };
  },

  /** The contact sees the reaction, but not its removal. */
  async describe({ conversation_id, emoji }: ReactionInput, { tx, world, organization, now, actor }) {
    const { contact_id } = await requireConversation(tx, organization, conversation_id);
    const { name } = await ofOrganization(tx, organization)
      .selectFrom("contacts")
      .select("name")
      .where("id", "=", contact_id)
      .executeTakeFirstOrThrow();
    const sending = { tx, db: tx, world, organization, now, actor };
    const { value: to } = (await readAddress(sending, { to: conversation_id })).to;
    const act = emoji === null ? "Remove the reaction to" : "React to";
    const target = { contact_id, to, name, text: emoji ?? "", reason: null, frozen: null };
    return {
      summary: `${act} a message of ${nameInSummary({ name, to })}`,
      targets: emoji === null ? [] : [target],
    };
  },

  call: (intent, context) => callChannel(intent, context),
  find: (intent, context) => callChannel(intent, context),

  async record(_, intent, { tx, organization, now }) {
    const { conversation_id, message_id, emoji, from } = intent;
    const at = now.toISOString();
    const reaction = { contact_id: null, from, emoji, at, ids: [] };
    if (await storeOwn(tx, organization, { message_id, reaction })) {
      const data = { message_id, conversation_id, from, emoji, timestamp: at };
      tx.emit({ type: "message.reaction", organization_id: organization, order: conversation_id, data });
    }
    return { data: { message_id, conversation_id, emoji, from, at } };
  },
});

/** The channel's id of the message. */
async function requireReactable(
  tx: Transaction,
  organization: string,
  { conversation_id, message_id }: ReactionInput,
): Promise<string> {
  const message = await ofOrganization(tx, organization)
    .selectFrom("messages")
    .select(["channel_message_id", "deleted_at"])
    .where("conversation_id", "=", conversation_id)
    .where("id", "=", message_id)
    .executeTakeFirst();
  if (!message) {
    throw failField("message_id", "message_not_found");
  }
  if (message.channel_message_id === null || message.deleted_at !== null) {
    throw failField("message_id", "message_not_reactable");
  }
  return message.channel_message_id;
}

/** @throws Failure `channel_unreachable`, `reaction_rejected`. */
async function callChannel(
  { inbox_id, channel: name, to, channel_message_id, emoji }: Intent,
  { world, organization: organization_id, signal }: OutwardContext,
): Promise<ReactionResult> {
  const channel = channelOf(world, name);
  const found = await readAccount(world.database.queries, world, { organization_id, inbox_id });
  if (channel.provider && !found) {
    throw fail("reaction_rejected", { reason: "the inbox has no credentials." });
  }
  const reaction = { account: found?.account, to, channel_message_id, emoji };
  const result = await withDeadline(timeoutMs, [signal], (deadline) =>
    deadline.within(
      channel.react?.(reaction, { signal: deadline.signal }) ??
        Promise.reject(fail("content_not_supported", { content: "reactions" })),
    ),
  );
  if (result.outcome === "unavailable") {
    throw fail("channel_unreachable");
  }
  if (result.outcome === "refused") {
    const { title, detail } = result.failure;
    throw fail("reaction_rejected", { reason: `${detail ?? title}`.replace(/\.*$/, ".") });
  }
  return result;
}

interface OwnReaction {
  readonly message_id: string;
  readonly reaction: {
    readonly contact_id: null;
    readonly from: string;
    readonly emoji: string | null;
    readonly at: string;
    readonly ids: readonly string[];
  };
}

/** False if nothing changes, or if the contact of the message was erased meanwhile. */
async function storeOwn(
  tx: Transaction,
  organization: string,
  { message_id, reaction }: OwnReaction,
): Promise<boolean> {
  const own = ofOrganization(tx, organization);
  const message = await own
    .selectFrom("messages")
    .select(["reactions", "from"])
    .where("id", "=", message_id)
    .forUpdate()
    .executeTakeFirst();
  const all = message?.reactions ?? [];
  const former = all.find(({ contact_id }) => contact_id === null)?.emoji ?? null;
  if (!message || message.from === null || former === reaction.emoji) {
    return false;
  }
  const others = all.filter(({ contact_id }) => contact_id !== null);
  const kept = reaction.emoji === null ? others : [...others, reaction];
  await own
    .updateTable("messages")
    .set({ reactions: JSON.stringify(kept) })
    .where("id", "=", message_id)
    .execute();
  return true;
}
