/** What a conversation's context shows of the bot: whether it answers, or why a person is to go on. */

import type { z } from "zod";
import type { BotInConversation } from "../../../../../tools/chatbot.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { TurnSource } from "../../../../database/schema/index.ts";

export async function readBot(
  db: Queries,
  { organization, conversation_id }: { readonly organization: string; readonly conversation_id: string },
): Promise<z.input<typeof BotInConversation> | null> {
  const row = await ofOrganization(db, organization)
    .selectFrom("chatbot_conversations")
    .selectAll()
    .where("conversation_id", "=", conversation_id)
    .executeTakeFirst();
  if (!row) {
    return null;
  }
  const { state, since, ended_at, ended_reason } = row;
  if (state === "active" || ended_reason !== "handed_off") {
    return { state, since: ended_at ?? since, reason: ended_reason, handed_off: null };
  }
  const turn = await ofOrganization(db, organization)
    .selectFrom("chatbot_turns")
    .select(["reason", "question", "found"])
    .where("conversation_id", "=", conversation_id)
    .where("status", "=", "handed_off")
    // Turns of chat_with_bot count only if they ended the bot's part: earlier versions also stored hand-offs
    // that did not.
    .where((turn) => turn.or([turn("message_id", "is not", null), turn("ended_at", "=", ended_at)]))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const reason = turn?.reason ?? "unknown";
  const note = turn ? { reason, question: turn.question, found: turn.found.map(showSource) } : null;
  return { state: "handed_off", since: ended_at ?? since, reason, handed_off: note };
}

/** The source in a few words. */
export function nameSource({ document_name, page, question }: TurnSource): string {
  const place = page === null ? "" : `, page ${page}`;
  return question ?? `${document_name ?? ""}${place}`;
}

/** Earlier versions did not store whether a source was about the question. */
export function showSource({ below_threshold, ...source }: TurnSource) {
  return { ...source, below_threshold: below_threshold ?? null };
}
