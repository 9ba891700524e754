/** What a person writes in a conversation: a reply with its files and what it quotes, or a note. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Message } from "../conversation/open-conversation.ts";
import { type Attachment, forgetFiles } from "./attachments.ts";
import { type Mode, useDraft } from "./draft.ts";
import { discard, type Outgoing } from "./outbox.ts";

export interface Writing {
  readonly mode: Signal<Mode>;
  /** The text of the reply. */
  readonly text: Signal<string>;
  readonly attachments: Signal<readonly Attachment[]>;
  /** The message to quote. */
  readonly quoted: Signal<Message | null>;
}

export function useWriting(conversation: string): Writing {
  const mode = useSignal<Mode>("reply");
  const text = useDraft("reply", conversation);
  const attachments = useSignal<readonly Attachment[]>([]);
  const quoted = useSignal<Message | null>(null);
  useEffect(() => () => forgetFiles(attachments, attachments.value), []);
  return { mode, text, attachments, quoted };
}

/** Whether the message can be taken back into the reply box: a template can't. */
export function isEditable({ input: { type } }: Outgoing): boolean {
  return type !== "template";
}

/**
 * Takes a rejected message back into the reply, before what was written meanwhile. The message that it quotes
 * may be among `messages`.
 */
export function editAgain(
  { mode, text, attachments, quoted }: Writing,
  { key, input }: Outgoing,
  messages: readonly Message[],
): void {
  const { type, media_url, file_name = "", caption } = input;
  discard(key);
  mode.value = "reply";
  quoted.value = messages.find(({ id }) => id === input.reply_to) ?? quoted.value;
  text.value = [input.text?.body ?? caption, text.value].filter(Boolean).join("\n");
  if (media_url !== undefined) {
    const file = { name: file_name, mediaType: `${type}/*`, url: media_url, progress: 1 };
    attachments.value = [
      { id: crypto.randomUUID(), problem: "", thumbnail: "", ...file },
      ...attachments.value,
    ];
  }
}
