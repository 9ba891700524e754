/**
 * Answers a message of a conversation in which the bot is active.
 *
 * The reply is composed with no transaction open. Then one transaction checks whether the reply is still
 * wanted, and stores the message with its delivery, the turn and the unit of the add-on. After a crash in
 * between, the reply is composed again, but sent once, because the transaction that sends also ends the turn.
 * If several messages came before the reply, the bot answers the latest one, and its turn covers the earlier
 * ones.
 */
import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { NewMessage } from "../../../../../tools/messages/index.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import {
  defineJob,
  type OrganizationChange,
  system,
  type Transaction,
  type World,
} from "../../../foundation/kernel/index.ts";
import { requireAddress } from "../../../inbox/contacts/index.ts";
import {
  assign,
  lockConversationSubject,
  openIfPending,
  recordAnswer,
  type Subject,
} from "../../../inbox/conversations/index.ts";
import { sendMessage } from "../../../inbox/messages/index.ts";
import { findTeams } from "../../../inbox/teams/index.ts";
import { recordUnit, requireAllowance } from "../../../money/billing/index.ts";
import { botOf, findConfig } from "../config.ts";
import { composeReply, type Reply } from "../reply.ts";
import { endTurn, findTurn, readHistory, type TurnRow } from "../turns.ts";
import { recordTokens } from "../usage.ts";
import { nameSource } from "./note.ts";
import { endByHandOff, isActive, requestAgent } from "./state.ts";

const Payload = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  turn_id: z.string(),
});
type Payload = z.infer<typeof Payload>;

/** What the bot does with a message: it replies, or it leaves the message to a person and says why. */
type Decision = { readonly reply: Reply } | { readonly reason: string; readonly unsent?: Reply };

export const answerJob = defineJob<Payload>({
  name: "chatbot.answer",
  payload: Payload,

  async run(payload, world, { signal }) {
    const turn = await findTurn(world.database.queries, keyOf(payload));
    if (turn?.status !== "pending" || (await findLater(world.database.queries, turn))) {
      // The later message has a job of its own, which covers this message.
      return undefined;
    }
    const decision = await decide(world, turn, signal);
    try {
      await world.database.transaction((tx) => apply(tx, world, { payload, decision }));
    } catch (error) {
      if (!(error instanceof Failure)) {
        throw error;
      }
      // The message can't be sent, for example because the 24-hour window has closed.
      const failed = { reason: error.code, ...("reply" in decision && { unsent: decision.reply }) };
      await world.database.transaction((tx) => apply(tx, world, { payload, decision: failed }));
    }
    return undefined;
  },

  async exhausted(payload, world) {
    await world.database.transaction((tx) => apply(tx, world, { payload, decision: { reason: "internal" } }));
  },
});

async function decide(world: World, turn: TurnRow, signal: AbortSignal): Promise<Decision> {
  const { organization_id: organization, conversation_id, question } = turn;
  const { queries } = world.database;
  const config = await findConfig(queries, organization);
  if (!config?.is_active) {
    return { reason: "chatbot_not_configured" };
  }
  if (question === "") {
    return { reason: "no_text" };
  }
  try {
    await requireAllowance(queries, world, { organization, now: world.now() });
  } catch (error) {
    if (error instanceof Failure) {
      return { reason: error.code };
    }
    throw error;
  }
  const earlier = {
    organization,
    conversation_id,
    ...(turn.message_id === null ? {} : { before: turn.message_id }),
  };
  const history = await readHistory(queries, earlier);
  const request = { organization, turn_id: turn.id, config, question, history, signal };
  return { reply: await composeReply(world, request) };
}

interface Application {
  readonly payload: Payload;
  readonly decision: Decision;
}

async function apply(tx: Transaction, world: World, { payload, decision }: Application): Promise<void> {
  const { organization_id: organization } = payload;
  const now = world.now();
  const parties = await lockConversationSubject(tx, organization, payload.conversation_id);
  const turn = await findTurn(tx, keyOf(payload));
  const composed = "reply" in decision ? decision.reply : decision.unsent;
  if (turn && composed) {
    await recordTokens(tx, turn, composed);
  }
  if (!parties || turn?.status !== "pending" || (await findLater(tx, turn))) {
    return;
  }
  const { contact, conversation } = parties;
  const config = await findConfig(tx, organization);
  if (!(await isActive(tx, conversation)) || contact.blocked_at !== null) {
    const reason = contact.blocked_at === null ? "not_the_bots" : "blocked";
    await endTurn(tx, turn, { status: "skipped", reason, now });
    await coverEarlier(tx, turn, now);
    return;
  }
  const reply = "reply" in decision ? decision.reply : undefined;
  const actor = config ? botOf(config) : system;
  const change = { tx, world, now, actor, organization };
  const sender = { ...change, actor: { ...actor, via: { sources: (reply?.sources ?? []).map(nameSource) } } };
  const reason = reply ? (reply.handoff?.reason ?? null) : "reason" in decision ? decision.reason : null;
  const sent = reply && (await send(sender, parties, reply.text));
  const status = reason === null ? "answered" : "handed_off";
  await endTurn(tx, turn, {
    status,
    reason,
    now,
    ...(reply && { reply }),
    ...(sent && { answer_message_id: sent }),
  });
  await coverEarlier(tx, turn, now);
  if (sent !== undefined) {
    const answer = { organization, conversation_id: conversation.id, answer_id: sent, isMessage: true, now };
    await recordUnit(tx, world, answer);
  }
  if (status === "answered") {
    await recordAnswer(change, conversation);
  } else {
    await handOver(change, parties, reply?.handoff?.team_id ?? null);
  }
}

/** Returns the message's id. @throws Failure of `sendMessage`, or `contact_unreachable`. */
async function send(
  change: OrganizationChange,
  { contact, conversation, channel }: Subject,
  text: string,
): Promise<string> {
  const { tx, world } = change;
  const { inbox_id } = conversation;
  const { value: to } = await requireAddress(tx, world, { contact, channel });
  const message = NewMessage.parse({ type: "text", text: { body: text }, to, inbox_id });
  return (await sendMessage(message, change)).id;
}

/** Ends the bot's part in the conversation, and requests an agent. */
export async function handOver(
  change: OrganizationChange,
  { conversation }: Subject,
  team_id: string | null,
): Promise<void> {
  const { tx, organization } = change;
  const { id } = conversation;
  await endByHandOff(change, conversation);
  // The team may have been deleted since the graph was saved: then routing chooses.
  const isTeam = team_id !== null && (await findTeams(tx, organization, [team_id])).has(team_id);
  if (isTeam) {
    await assign({ id, team_id }, change);
    await openIfPending(change, id);
  } else {
    await requestAgent(change, conversation);
  }
}

/** Finds a later message of the conversation that is still to be answered. */
async function findLater(
  db: Parameters<typeof findTurn>[0],
  { organization_id, conversation_id, id }: TurnRow,
) {
  return ofOrganization(db, organization_id)
    .selectFrom("chatbot_turns")
    .select("id")
    .where("conversation_id", "=", conversation_id)
    .where("status", "=", "pending")
    .where("message_id", "is not", null)
    .where("id", ">", id)
    .limit(1)
    .executeTakeFirst();
}

async function coverEarlier(
  tx: Transaction,
  { organization_id, conversation_id, id }: TurnRow,
  now: Date,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("chatbot_turns")
    .set({ status: "covered", reason: id, ended_at: now.toISOString() })
    .where("conversation_id", "=", conversation_id)
    .where("status", "=", "pending")
    .where("message_id", "is not", null)
    .where("id", "<", id)
    .execute();
}

function keyOf({ organization_id, turn_id }: Payload) {
  return { organization_id, id: turn_id };
}
