/**
 * Marks a received message, and all before it, as read. With the typing indicator, the person sees for up to
 * 25 seconds that an answer is being written.
 */
import type { ReadMark } from "../../../../ports/channel/marks.ts";
import { toWhatsAppAccount } from "../account.ts";
import type { MarkMessageRequestPayload } from "../contract.ts";
import { askGraph, segment, type WhatsAppSettings } from "../http.ts";

/**
 * A rejected mark is not sent again: the message is too old, or the account can't send, which its messages
 * report. @throws Error if another attempt may succeed.
 */
export async function sendReadMark(
  settings: WhatsAppSettings,
  { account, channel_message_id: message_id, isTyping }: ReadMark,
  signal: AbortSignal,
): Promise<void> {
  const credentials = toWhatsAppAccount(account);
  const json: MarkMessageRequestPayload = {
    messaging_product: "whatsapp",
    status: "read",
    message_id,
    ...(isTyping ? { typing_indicator: { type: "text" } } : {}),
  };
  const path = `/${segment(credentials.phone_number_id)}/messages`;
  const answer = await askGraph({ settings, credentials, signal }, { method: "POST", path, json });
  if (answer.outcome === "rejected" && (answer.error.isTransient || answer.error.status >= 500)) {
    throw new Error(`WhatsApp did not accept a read mark: error ${answer.error.code}.`);
  }
}
