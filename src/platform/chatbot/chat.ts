/** Answers one message for the caller, and sends nothing. Each answer is a turn, and one unit of the add-on. */
import { z } from "zod";
import type { chatbot as contract } from "../../../tools/chatbot.ts";
import { failField } from "../../../tools/errors.ts";
import { recordUnit, requireAllowance } from "../billing/index.ts";
import { findConversation, requireConversation } from "../conversations/index.ts";
import { freshId, outward, type WriteContext } from "../kernel/index.ts";
import { normalizePhone } from "../phone/index.ts";
import { requireActiveConfig } from "./config.ts";
import { composeReply } from "./reply.ts";
import { endTurn, findTurn, insertTurn, readHistory } from "./turns.ts";

type Chat = z.output<typeof contract.chat_with_bot.input>;

/** The question is in the turn, where an erasure finds it. */
const Intent = z.object({ turn_id: z.string(), conversation_id: z.string() });

export const chat = outward({
  intent: Intent,

  async begin({ conversation_id, message: question, contact_phone }: Chat, context) {
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
    return { turn_id, conversation_id };
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

  async record(reply, { turn_id, conversation_id }, { tx, world, organization, now }) {
    // An erasure may have come first: then the question and the answer are not stored.
    const conversation = await findConversation(tx, organization, conversation_id, { locks: true });
    const status = reply.handoff ? "handed_off" : "answered";
    const end = { status, reason: reply.handoff?.reason ?? null, now } as const;
    const turn = { organization_id: organization, id: turn_id };
    await endTurn(tx, turn, conversation ? { ...end, reply } : end);
    const answer = { organization, conversation_id, answer_id: turn_id, isMessage: false, now };
    await recordUnit(tx, world, answer);
    const { text: response, agent_used, sources, handoff } = reply;
    return {
      data: {
        ...{ conversation_id, response, agent_used, sources: [...sources] },
        ...{ handed_off: handoff !== null, reason: handoff?.reason ?? null },
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
  const contact = await tx
    .selectFrom("contacts")
    .select("phone_number")
    .where("organization_id", "=", organization)
    .where("id", "=", contact_id)
    .executeTakeFirst();
  if (contact?.phone_number !== number) {
    throw failField("contact_phone", "contact_mismatch");
  }
}
