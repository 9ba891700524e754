/**
 * Opts a contact out of marketing who writes nothing but a stop word, and in again after a start word.
 *
 * The whole message must be the word: "stop, o Zé não vem" is an ordinary message. Replies to the
 * contact stay possible. A change is confirmed, once, in the same conversation; not to a blocked
 * contact, nor in spam.
 *
 * In a simulated inbox the words have no effect if the organization also has an inbox on a real channel.
 */
import type { Selectable } from "kysely";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { isSimulatedBesideReal } from "../../../account/inboxes/index.ts";
import type { Change } from "../../../foundation/kernel/index.ts";
import { removeAccents } from "../../../foundation/query/index.ts";
import { paymentOf } from "../../../money/wallet/index.ts";
import { changeConsent } from "../../contacts/index.ts";
import { readEstimates } from "../charge/index.ts";
import { enqueueMessages, newMessageId } from "../outbound/index.ts";
import { startWords, stopWords } from "./words.ts";

interface InboundText {
  readonly inbox: Selectable<Tables["inboxes"]>;
  readonly contact: Selectable<Tables["contacts"]>;
  readonly conversation: Selectable<Tables["conversations"]>;
  readonly text: string;
  /** The address to reply to; null if the channel gave none. */
  readonly to: string | null;
  /** When the contact wrote it. */
  readonly at: string;
}

/** Changes the contact's consent if the message is a stop or start word. */
export async function applyConsentWords(change: Change, inbound: InboundText): Promise<void> {
  const { tx } = change;
  const { inbox, contact, conversation, to, at } = inbound;
  const settings = InboxSettings.parse(inbox.settings);
  const opted_out = readConsent(inbound.text, settings);
  if (opted_out === undefined || (await isSimulatedBesideReal(change, inbox))) {
    return;
  }
  // Locks the contact: the same word may arrive twice at once, and is confirmed once.
  const former = await changeConsent(change, contact, { opted_out, at });
  if (!former) {
    return;
  }
  const body = opted_out ? stopReply(settings) : (settings.start_reply ?? startReply);
  const isConfirmed = former.blocked_at === null && conversation.status !== "spam";
  if (body.trim() === "" || to === null || !isConfirmed) {
    return;
  }
  const recipient = { organization: contact.organization_id, to };
  const estimateFor = await readEstimates(tx, [recipient]);
  // The law requires the confirmation, so it is sent whatever the wallet holds.
  const charge = estimateFor(recipient).chargeOf(undefined, paymentOf(change.world, inbox));
  const { actor, now } = change;
  const text = { type: "text", content: { text: { body } } } as const;
  const id = newMessageId(now);
  const message = { id, inbox, conversation, to, ...text, charge, isAnswer: false, actor, now };
  await enqueueMessages(change, [message]);
}

/** True for a stop word, false for a start word, undefined for anything else. */
export function readConsent(text: string, settings: InboxSettings): boolean | undefined {
  const message = bareWords(text);
  if (message === "") {
    return undefined;
  }
  if (bareSet(settings.stop_words, bareStopWords).has(message)) {
    return true;
  }
  return bareSet(settings.start_words, bareStartWords).has(message) ? false : undefined;
}

const bareStopWords = new Set(stopWords.map(bareWords));
const bareStartWords = new Set(startWords.map(bareWords));

function bareSet(words: readonly string[] | undefined, otherwise: ReadonlySet<string>): ReadonlySet<string> {
  return words ? new Set(words.map(bareWords)) : otherwise;
}

/** Removes case, accents, punctuation, emoji and invisible characters; separates words by one space. */
function bareWords(text: string): string {
  return removeAccents(text)
    .replace(/[\p{P}\p{S}\p{Cf}]|\ufe0f/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** In English unless the inbox has a text of its own, because the language of the contact is not known. */
const startReply = "You are subscribed to our marketing messages again. Reply STOP to end them.";

function stopReply({ stop_reply, start_words }: InboxSettings): string {
  const [word] = start_words ?? startWords;
  const hint = word === undefined ? "" : ` Reply ${word.toUpperCase()} to get them again.`;
  return stop_reply ?? `You will get no more marketing messages from us.${hint}`;
}
