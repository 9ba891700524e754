/**
 * A contact who writes a stop word, and nothing else, is opted out of marketing; a start word undoes it.
 *
 * The whole message must be the word: "stop, o Zé não vem" is a message to a person. Ordinary replies stay
 * possible either way. What was changed is confirmed, once, in the same conversation.
 */
import type { Selectable } from "kysely";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Transaction } from "../../../database/database.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { changeContact } from "../../contacts/index.ts";
import type { World } from "../../kernel/index.ts";
import { removeAccents } from "../../query/index.ts";
import { enqueueMessage } from "../send.ts";
import { startWords, stopWords } from "./consent-words.ts";

interface InboundText {
  readonly inbox: Selectable<Tables["inboxes"]>;
  readonly contact: Selectable<Tables["contacts"]>;
  readonly conversation: Selectable<Tables["conversations"]>;
  readonly text: string;
  /** Who is answered; null if the channel told of nobody who can be. */
  readonly to: string | null;
  readonly now: Date;
}

/** Changes the contact's consent if this message says so. */
export async function applyConsentWords(tx: Transaction, world: World, heard: InboundText): Promise<void> {
  const { inbox, contact, conversation, to, now } = heard;
  const settings = InboxSettings.parse(inbox.settings);
  const opted_out = readConsent(heard.text, settings);
  if (opted_out === undefined || opted_out === (await isOptedOut(tx, contact))) {
    return;
  }
  await changeContact({ tx, organization: contact.organization_id, now }, contact.id, { opted_out });
  const body = opted_out ? stopReply(settings) : (settings.start_reply ?? startReply);
  if (body.trim() === "" || to === null || conversation.status === "spam") {
    return;
  }
  // Not noted as our answer in the conversation: nobody has read it yet.
  await enqueueMessage(tx, world, {
    inbox,
    conversation,
    to,
    type: "text",
    content: { text: { body } },
    now,
  });
}

/** Asked anew and held: the same word may have come twice at once, and is confirmed once. */
async function isOptedOut(
  tx: Transaction,
  { organization_id, id }: InboundText["contact"],
): Promise<boolean> {
  const { opted_out } = await tx
    .selectFrom("contacts")
    .select("opted_out")
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return opted_out;
}

/** True for a stop word, false for a start word, undefined for anything else. */
function readConsent(text: string, settings: InboxSettings): boolean | undefined {
  const said = bareWords(text);
  const isOneOf = (words: readonly string[]) => said !== "" && words.some((word) => bareWords(word) === said);
  if (isOneOf(settings.stop_words ?? stopWords)) {
    return true;
  }
  return isOneOf(settings.start_words ?? startWords) ? false : undefined;
}

/** Words alone: no case, accents, punctuation, emoji or invisible characters, and one space between two. */
function bareWords(text: string): string {
  return removeAccents(text)
    .replace(/[\p{P}\p{S}\p{Cf}]|\ufe0f/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** In English where the inbox has no words of its own: which language the contact reads is not known. */
const startReply = "You are subscribed to our marketing messages again. Reply STOP to end them.";

function stopReply({ stop_reply, start_words }: InboxSettings): string {
  const [word] = start_words ?? startWords;
  const wayBack = word === undefined ? "" : ` Reply ${word.toUpperCase()} to get them again.`;
  return stop_reply ?? `You will get no more marketing messages from us.${wayBack}`;
}
