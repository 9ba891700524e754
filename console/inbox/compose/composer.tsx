/** The reply box: a reply to the contact, with files, or an internal note. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { Icon } from "../../controls/icon.tsx";
import { call } from "../../service/call.ts";
import { useOnce } from "../../service/use-once.ts";
import { texts } from "../../texts.ts";
import { describeContent } from "../conversation/message-content.tsx";
import type { Context } from "../conversation/open-conversation.ts";
import { AttachButton, AttachmentTray } from "./attachment-tray.tsx";
import { addFiles, forgetFiles } from "./attachments.ts";
import { type Mode, modes, useDraft } from "./draft.ts";
import { findMentioned, peopleSource } from "./mentions.ts";
import { quickReplySource, readQuickReplies } from "./quick-replies.ts";
import { isReady, sendParts } from "./send-parts.ts";
import { TemplateDialog } from "./template-dialog.tsx";
import { focusTextField, TextField } from "./text-field.tsx";
import { isTooLong } from "./text-limit.tsx";
import type { Writing } from "./writing.ts";

interface Props {
  readonly context: Context;
  readonly writing: Writing;
  readonly onChange: () => void;
  /** Called whenever the person types. */
  readonly onWrite: () => void;
}

export function Composer({ context, writing, onChange, onWrite }: Props) {
  const { mode } = writing;
  const isNote = mode.value === "note";
  const obstacle = isNote ? null : describeObstacle(context);
  return (
    <div class={`composer${isNote ? " note" : ""}`}>
      <div class="row spread">
        <ModeTabs mode={mode} />
        <TemplateButton context={context} />
      </div>
      {isNote ? (
        <NoteForm conversation={context.conversation.id} onChange={onChange} onWrite={onWrite} />
      ) : obstacle === null ? (
        <>
          <ReplyWarnings context={context} />
          <ReplyForm conversation={context.conversation.id} writing={writing} onWrite={onWrite} />
        </>
      ) : (
        <p class="notice">{obstacle}</p>
      )}
    </div>
  );
}

/** What to know before a reply is sent, such as a closed window where the inbox is not strict. */
function ReplyWarnings({ context: { warnings } }: Pick<Props, "context">) {
  return warnings.length === 0 ? null : (
    <ul class="notice">
      {warnings.map(({ code, message }) => (
        <li key={code}>{texts.warnings[code] ?? message}</li>
      ))}
    </ul>
  );
}

function ModeTabs({ mode }: { mode: Signal<Mode> }) {
  const isChosen = useRef(false);
  // Before the next key, which would be a shortcut outside of the field.
  useLayoutEffect(() => {
    if (isChosen.current) {
      focusTextField();
    }
  }, [mode.value]);
  return (
    <fieldset class="row tabs" aria-label={texts.compose.mode}>
      {modes.map((one) => (
        <button
          type="button"
          key={one}
          class="plain"
          data-key={one === "note" ? "n" : undefined}
          aria-pressed={mode.value === one}
          onClick={() => {
            isChosen.current = true;
            mode.value = one;
            focusTextField();
          }}
        >
          {texts.compose.modes[one]}
        </button>
      ))}
    </fieldset>
  );
}

function TemplateButton({ context: { actions, contact, conversation } }: Pick<Props, "context">) {
  const isOpen = useSignal(false);
  const set = (value: boolean) => () => {
    isOpen.value = value;
  };
  const isAllowed = actions.some(({ tool, is_allowed }) => tool === "send_template_message" && is_allowed);
  return isAllowed ? (
    <>
      <button type="button" class="plain" onClick={set(true)}>
        <Icon name="template" size={18} />
        {texts.compose.template}
      </button>
      {isOpen.value && (
        <TemplateDialog to={conversation.id} contactName={contact.name} onClose={set(false)} />
      )}
    </>
  ) : null;
}

type FormProps = Pick<Props, "onWrite"> & { readonly conversation: string };

function NoteForm({ conversation, onChange, onWrite }: FormProps & Pick<Props, "onChange">) {
  const text = useDraft("note", conversation);
  const isBusy = useSignal(false);
  const canAdd = !isBusy.value && text.value.trim() !== "" && !isTooLong(text.value);
  const once = useOnce([conversation, text.value, findMentioned(text.value).join()]);
  const submit = async () => {
    if (!canAdd) {
      return;
    }
    isBusy.value = true;
    const note = { conversation_id: conversation, text: text.value, mentions: findMentioned(text.value) };
    const isAdded = await attempt(() => once((options) => call("add_note", note, options)));
    isBusy.value = false;
    if (isAdded) {
      // What was typed meanwhile stays.
      text.value = text.value === note.text ? "" : text.value;
      onChange();
    }
  };
  return (
    <form class="reply" onSubmit={handleSubmit(submit)}>
      <TextField
        text={text}
        label={texts.compose.noteLabel}
        source={peopleSource}
        onWrite={onWrite}
        onSubmit={submit}
      />
      <div class="row spread">
        <span class="small">{texts.compose.noteHint}</span>
        <button type="submit" class="primary" disabled={!canAdd}>
          <Icon name="note" size={18} />
          {texts.compose.addNote}
        </button>
      </div>
    </form>
  );
}

function ReplyForm({ conversation, writing, onWrite }: FormProps & Pick<Props, "writing">) {
  const { text, attachments, quoted } = writing;
  const canSend = isReady(text.value, attachments.value);
  useEffect(() => void readQuickReplies(), []);
  const submit = () => {
    if (canSend) {
      sendParts(conversation, { text: text.value, attachments: attachments.value, quoted: quoted.value });
      text.value = "";
      forgetFiles(attachments, attachments.value);
      quoted.value = null;
    }
  };
  return (
    <form class="reply" onSubmit={handleSubmit(submit)}>
      <QuoteLine quoted={quoted} />
      <AttachmentTray attachments={attachments} />
      <TextField
        text={text}
        label={texts.compose.replyLabel}
        source={quickReplySource}
        onWrite={onWrite}
        onSubmit={submit}
        onFiles={(files) => addFiles(attachments, files)}
      />
      <div class="row spread">
        <AttachButton attachments={attachments} />
        <button type="submit" class="primary" disabled={!canSend}>
          <Icon name="send" size={18} />
          {texts.compose.send}
        </button>
      </div>
    </form>
  );
}

function QuoteLine({ quoted }: Pick<Writing, "quoted">) {
  return quoted.value === null ? null : (
    <blockquote class="row small">
      <span class="truncate">{describeContent(quoted.value)}</span>
      <button
        type="button"
        class="plain icon"
        aria-label={texts.compose.removeQuote}
        onClick={() => {
          quoted.value = null;
        }}
      >
        <Icon name="close" size={14} />
      </button>
    </blockquote>
  );
}

function handleSubmit(submit: () => unknown) {
  return (event: SubmitEvent) => {
    event.preventDefault();
    submit();
  };
}

/** Why no reply may be written; null if it may. */
export function describeObstacle({ actions, contact, conversation }: Context): string | null {
  const action = actions.find(({ tool }) => tool === "send_message");
  if (action === undefined || action.is_allowed) {
    return action === undefined ? texts.compose.notPermitted : null;
  }
  if (contact.blocked) {
    return texts.compose.blocked;
  }
  return conversation.is_within_24h_window ? action.reason : texts.compose.windowClosed;
}
