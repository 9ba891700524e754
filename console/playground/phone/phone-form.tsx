/** What the customer writes and attaches. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { Icon } from "../../controls/icon.tsx";
import { AttachButton, AttachmentTray } from "../../inbox/compose/attachment-tray.tsx";
import { type Attachment, attachmentType, forgetFiles } from "../../inbox/compose/attachments.ts";
import { isCaption, isReady } from "../../inbox/compose/send-parts.ts";
import { TooLong } from "../../inbox/compose/text-limit.tsx";
import { texts } from "../../texts.ts";
import type { CustomerMessage } from "../simulator.ts";

const words = texts.playground.phone;

export type CustomerContent = Pick<CustomerMessage, "text" | "reply" | "reply_to" | "media">;

interface Props {
  /** @throws ServiceError, ConnectionError */
  readonly onSend: (content: CustomerContent, id: string) => Promise<void>;
}

export function PhoneForm({ onSend }: Props) {
  const text = useSignal("");
  const attachments = useSignal<readonly Attachment[]>([]);
  const isSending = useSignal(false);
  // Kept until the service has confirmed the message, so that a repeated try is the same message.
  const id = useSignal(crypto.randomUUID());
  const canSend = isReady(text.value, attachments.value) && !isSending.value;
  useEffect(() => () => forgetFiles(attachments, attachments.value), []);

  const submit = async () => {
    if (!canSend) {
      return;
    }
    isSending.value = true;
    const sent = { text: text.value, attachments: attachments.value };
    const isDone = await attempt(async () => {
      for (const [index, content] of listContents(sent).entries()) {
        await onSend(content, `${id.value}-${index}`);
      }
    });
    isSending.value = false;
    if (isDone) {
      id.value = crypto.randomUUID();
      // What was written and attached meanwhile stays.
      text.value = text.value === sent.text ? "" : text.value;
      forgetFiles(attachments, sent.attachments);
    }
  };
  return (
    <form
      class="phone-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <AttachmentTray attachments={attachments} />
      <TooLong text={text.value} />
      <div class="row">
        <AttachButton attachments={attachments} />
        <textarea
          rows={2}
          aria-label={words.write}
          placeholder={words.write}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              void submit();
            }
          }}
        />
        <button
          type="submit"
          class="primary icon"
          aria-label={words.send}
          title={words.send}
          disabled={!canSend}
        >
          <Icon name="send" size={18} />
        </button>
      </div>
    </form>
  );
}

interface Written {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** Each file is a message, and a text that is no caption is one. */
function listContents({ text, attachments }: Written): CustomerContent[] {
  const caption = isCaption(text, attachments) ? { caption: text } : {};
  const files = attachments.map((attachment) => ({
    media: {
      type: attachmentType(attachment),
      url: attachment.url,
      file_name: attachment.name,
      ...caption,
    },
  }));
  return text.trim() !== "" && !caption.caption ? [...files, { text }] : files;
}
