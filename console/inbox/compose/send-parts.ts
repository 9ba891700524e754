/** The messages that a reply becomes. */
import type { Message } from "../conversation/open-conversation.ts";
import { type Attachment, attachmentType } from "./attachments.ts";
import { sendLater } from "./outbox.ts";
import { isTooLong } from "./text-limit.tsx";

interface Reply {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly quoted: Message | null;
}

const longestCaption = 1024;

/** Whether the text goes with the file: a short one beside one image, video or document. */
export function isCaption(text: string, attachments: readonly Attachment[]): boolean {
  const [first] = attachments;
  const hasPlace = first !== undefined && attachments.length === 1 && attachmentType(first) !== "audio";
  return hasPlace && text.trim() !== "" && text.length <= longestCaption;
}

/** Each file is a message, and a text that is no caption is one. */
export function sendParts(conversation: string, { text, attachments, quoted }: Reply): void {
  const quote = quoted === null ? {} : { reply_to: quoted.id };
  const caption = isCaption(text, attachments) ? { caption: text } : {};
  for (const attachment of attachments) {
    const { url, name } = attachment;
    const input = { to: conversation, type: attachmentType(attachment), media_url: url, file_name: name };
    const preview = [name, caption.caption].filter(Boolean).join("\n");
    sendLater(conversation, { ...input, ...caption, ...quote }, preview);
  }
  if (text.trim() !== "" && !caption.caption) {
    sendLater(conversation, { to: conversation, type: "text", text: { body: text }, ...quote }, text);
  }
}

/** Whether there is something to send, no text is too long, and every file is uploaded. */
export function isReady(text: string, attachments: readonly Attachment[]): boolean {
  const hasContent = text.trim() !== "" || attachments.length > 0;
  return hasContent && !isTooLong(text) && attachments.every(({ url }) => url !== "");
}
