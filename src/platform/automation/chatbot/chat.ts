/**
 * Answers one message for the caller, and sends nothing. Each answer is a turn, and one unit of the add-on.
 * If a person is needed and the caller wants it, the conversation is handed off.
 */
import { z } from "zod";
import type { chatbot as contract } from "../../../../tools/chatbot.ts";
import { failField } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { normalizePhone } from "../../account/inboxes/index.ts";
import { freshId, outward, system, type WriteContext } from "../../foundation/kernel/index.ts";
import { lockConversationSubject, requireConversation } from "../../inbox/conversations/index.ts";
import { recordUnit, requireAllowance } from "../../money/billing/index.ts";
import { botOf, findConfig, requireActiveConfig } from "./config.ts";
import { handOver, showSource } from "./conversations/index.ts";
import { composeReply } from "./reply.ts";
import { endTurn, findTurn, insertTurn, readHistory } from "./turns.ts";

type Chat = z.output<typeof contract.chat_with_bot.input>;

/** The intent does not contain the question: the turn does, where an erasure finds it. */
const Intent = z.object({
  turn_id: z.string(),
  conversation_id: z.string(),
  // Earlier versions did not store this field.
  hand_off: z.boolean().default(false),
});

export const chat = outward({
  intent: Intent,

  async begin({ conversation_id, message: question, contact_phone, hand_off = false }: Chat, context) {
    const { tx, world, organization, now } = context;
    const { contact_id, inbox_id } = await requireConversation(tx, organization, conversation_id);
    await requireActiveConfig(tx, organization);
    if (contact_phone !== undefined) {
      const given = { text: contact_phone, field: "contact_phone", inbox_id };
      await requireNumber(context, contact_id, await normalizePhone(tx, organization, given));
    }
    await requireAllowance(tx, world, { organization, now });
    const turn_id = freshId(context, "turn");
    const turn = { organization_id: organization, id: turn_id, conversation_id, contact_id };
    await insertTurn(tx, { ...turn, message_id: null, question }, now);
    return { turn_id, conversation_id, hand_off };
  },

  async call({ turn_id, conversation_id }, { world, organization, signal }) {
    const { queries } = world.database;
    const [config, turn, history] = await Promise.all([
      requireActiveConfig(queries, organization),
      findTurn(queries, { organization_id: organization, id: turn_id }),
      readHistory(queries, { organization, conversation_id }),
    ]);
    const question = turn?.question ?? "";
    return composeReply(world, { organization, turn_id, config, question, history, signal });
  },

  async record(reply, { turn_id, conversation_id, hand_off }, { tx, world, organization, now }) {
    // The contact may have been erased meanwhile: then the question and the answer are not stored.
    const parties = await lockConversationSubject(tx, organization, conversation_id);
    const isHandedOff = reply.handoff !== null && hand_off && parties !== undefined;
    const status = isHandedOff ? "handed_off" : "answered";
    const end = { status, reason: reply.handoff?.reason ?? null, now } as const;
    const turn = { organization_id: organization, id: turn_id };
    await endTurn(tx, turn, parties ? { ...end, reply } : end);
    const answer = { organization, conversation_id, answer_id: turn_id, isMessage: false, now };
    await recordUnit(tx, world, answer);
    if (isHandedOff) {
      const config = await findConfig(tx, organization);
      const actor = config ? botOf(config) : system;
      await handOver({ tx, world, now, actor, organization }, parties, reply.handoff.team_id);
    }
    const { text: response, agent_used, sources, found, handoff } = reply;
    return {
      data: {
        conversation_id,
        response,
        agent_used,
        sources: sources.map(showSource),
        found: found.map(showSource),
        handed_off: isHandedOff,
        would_hand_off: handoff !== null,
        reason: handoff?.reason ?? null,
      },
    };
  },
});

/** @throws Failure `contact_mismatch`. */
async function requireNumber(
  { tx, organization }: Pick<WriteContext, "tx" | "organization">,
  contact_id: string,
  number: string,
): Promise<void> {
  const contact = await ofOrganization(tx, organization)
    .selectFrom("contacts")
    .select("phone_number")
    .where("id", "=", contact_id)
    .executeTakeFirst();
  if (contact?.phone_number !== number) {
    throw failField("contact_phone", "contact_mismatch");
  }
}
