/** Composes a message without sending it. */
import { readEstimates } from "../charge/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { type RecipientState, requireSendable, type SendingContext } from "./check.ts";
import { type MessageInput, readContent } from "./content.ts";

/**
 * Composes a message without sending it, and applies the rules of sending to it; the
 * recipient need not be stored.
 * @returns `held` in millionths of the currency: what must be available of the real or the `simulated` money;
 * 0 if the wallet need not pay.
 * @throws Failure as `sendMessage`, except `insufficient_funds`.
 */
export async function composeMessage(
  input: MessageInput,
  sending: SendingContext,
  { contact, inbox, conversation }: RecipientState,
): Promise<{ readonly content: MessageRow["content"]; readonly held: number; readonly simulated: boolean }> {
  const { db, organization } = sending;
  const contentFor = await readContent(sending, input);
  const recipient = { organization, to: input.to };
  const estimateFor = await readEstimates(db, [recipient]);
  const content = await contentFor(inbox);
  const outgoing = { contact, inbox, conversation, content, estimate: estimateFor(recipient) };
  const { charge, isLimited } = await requireSendable(sending, outgoing);
  const { held = 0, simulated = false } = charge ?? {};
  return { content, held: isLimited ? held : 0, simulated };
}
