/** The messages that a reply becomes. */
import type { Message } from "../conversation/open-conversation.ts";
import { type Attachment, attachmentType } from "./attachments.ts";
import { sendLater } from "./outbox.ts";

interface Reply {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly quoted: Message | null;
}

/** Each file is a message; a text beside one image, video or document is its caption. */
export function sendParts(conversation: string, { text, attachments, quoted }: Reply): void {
  const quote = quoted === null ? {} : { reply_to: quoted.id };
  const [first] = attachments;
  const hasText = text.trim() !== "";
  const isCaption = first !== undefined && attachments.length === 1 && attachmentType(first) !== "audio";
  for (const attachment of attachments) {
    const { url, name } = attachment;
    const caption = isCaption && hasText ? { caption: text } : {};
    const input = { to: conversation, type: attachmentType(attachment), media_url: url, file_name: name };
    const preview = [name, caption.caption].filter(Boolean).join("\n");
    sendLater(conversation, { ...input, ...caption, ...quote }, preview);
  }
  if (hasText && !isCaption) {
    sendLater(conversation, { to: conversation, type: "text", text: { body: text }, ...quote }, text);
  }
}

/** Whether there is something to send, and every file is uploaded. */
export function isReady(text: string, attachments: readonly Attachment[]): boolean {
  return attachments.every(({ url }) => url !== "") && (text.trim() !== "" || attachments.length > 0);
}
