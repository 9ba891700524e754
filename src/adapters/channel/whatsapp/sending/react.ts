/** Reacts to a message, or removes the reaction. The latest one to a message counts. */
import type { ReactionResult, SentReaction } from "../../../../ports/channel/marks.ts";
import { toWhatsAppAccount } from "../account.ts";
import type { ReactionMessage } from "../contract.ts";
import { reactionTo, toFailure } from "../error-codes.ts";
import { askGraph, isUnsent, segment, type WhatsAppSettings } from "../http.ts";

/** What the API asks to wait with, which a caller who waits for the answer repeats instead. */
const passing = new Set(["wait", "wait_briefly", "wait_for_recipient"]);

/** @throws Error if the request was written, and no answer says whether it was accepted. */
export async function sendReaction(
  settings: WhatsAppSettings,
  { account, to: { kind, value: to }, channel_message_id: message_id, emoji }: SentReaction,
  signal: AbortSignal,
): Promise<ReactionResult> {
  if (!account) {
    throw new Error("A reaction on WhatsApp has no account.");
  }
  const credentials = toWhatsAppAccount(account);
  const json: ReactionMessage = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    ...(kind === "bsuid" ? { recipient: to } : { to }),
    type: "reaction",
    reaction: { message_id, emoji: emoji ?? "" },
  };
  const path = `/${segment(credentials.phone_number_id)}/messages`;
  const answer = await askGraph({ settings, credentials, signal }, { method: "POST", path, json }).catch(
    (error: unknown) => {
      if (isUnsent(error)) {
        return { outcome: "unavailable" } as const;
      }
      throw error;
    },
  );
  if (answer.outcome !== "rejected") {
    return { outcome: answer.outcome };
  }
  const { error } = answer;
  return error.status === 429 || passing.has(reactionTo(error).reaction)
    ? { outcome: "unavailable" }
    : { outcome: "refused", failure: toFailure(error) };
}
