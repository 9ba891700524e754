/** The files of a reply, with the progress of their uploads, and the button that adds some. */
import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import { type Attachment, addFiles, forgetFiles } from "./attachments.ts";

interface Props {
  readonly attachments: Signal<readonly Attachment[]>;
}

export function AttachmentTray({ attachments }: Props) {
  return attachments.value.length === 0 ? null : (
    <ul class="row tray">
      {attachments.value.map((attachment) => (
        <li class="chip" key={attachment.id}>
          <AttachmentState attachment={attachment} />
          <button
            type="button"
            class="plain icon"
            aria-label={texts.compose.removeFile(attachment.name)}
            onClick={() => forgetFiles(attachments, [attachment])}
          >
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function AttachmentState({ attachment }: { attachment: Attachment }) {
  const { name, progress, url, problem, thumbnail } = attachment;
  return (
    <>
      {thumbnail !== "" && <img class="thumbnail" src={thumbnail} alt="" />}
      <span class="truncate">{name}</span>
      {problem !== "" && (
        <span class="error" role="alert">
          {problem}
        </span>
      )}
      {problem === "" && url === "" && (
        <progress value={progress} max={1} aria-label={texts.compose.uploading(name)} />
      )}
    </>
  );
}

export function AttachButton({ attachments }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          addFiles(attachments, [...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="plain icon"
        aria-label={texts.compose.attach}
        title={texts.compose.attach}
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
    </>
  );
}
