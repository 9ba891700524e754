/** The person's own sessions: where and how they were begun, and how they are ended. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../controls/dialog.tsx";
import { type Answer, call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { texts } from "../texts.ts";
import { formatMoment } from "../time.ts";

type ListedSession = Answer<"list_console_sessions">["data"][number];

interface Notice {
  readonly text: string;
  readonly class?: "error";
}

/** The last used ones. More than these are ended together. */
const shownSessions = 100;

export function SessionsDialog({ onClose }: { readonly onClose: () => void }) {
  const sessions = useSignal<readonly ListedSession[]>([]);
  const notice = useSignal<Notice>({ text: texts.loading });
  const list = useRef<HTMLUListElement>(null);

  /** `done` says what has happened. */
  const run = async (act: () => Promise<unknown>, done: string) => {
    try {
      await act();
      sessions.value = (await call("list_console_sessions", { page: 1, per_page: shownSessions })).data;
      notice.value = { text: done };
    } catch (error) {
      notice.value = { text: describeError(error), class: "error" };
    }
  };
  useEffect(() => void run(async () => undefined, ""), []);

  const end = async (act: () => Promise<unknown>) => {
    await run(act, texts.sessions.ended);
    // The button that had the focus is gone.
    list.current?.focus();
  };
  const endOne = ({ id }: ListedSession) => end(() => call("end_console_session", { id }));
  const endOthers = () => end(() => call("end_other_console_sessions", {}));
  const hasOthers = sessions.value.some(({ is_current }) => !is_current);
  return (
    <Dialog title={texts.sessions.title} onClose={onClose}>
      <ul ref={list} class="sessions" tabIndex={-1} aria-label={texts.sessions.title}>
        {sessions.value.map((one) => (
          <SessionRow key={one.id} session={one} onEnd={() => void endOne(one)} />
        ))}
      </ul>
      {hasOthers && (
        <div class="row">
          <button type="button" onClick={() => void endOthers()}>
            {texts.sessions.endOthers}
          </button>
        </div>
      )}
      <p class={notice.value.class ?? "small muted"} role="status">
        {notice.value.text}
      </p>
    </Dialog>
  );
}

interface RowProps {
  readonly session: ListedSession;
  readonly onEnd: () => void;
}

function SessionRow({ session, onEnd }: RowProps) {
  const { browser, created_at, last_used_at, signed_in_by, is_current } = session;
  const name = browser ?? texts.sessions.unknownBrowser;
  const begun = formatMoment(created_at);
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <p class="small muted">
          {texts.sessions.begun[signed_in_by](begun)}
          <br />
          {texts.sessions.used(formatMoment(last_used_at))}
        </p>
      </div>
      {is_current ? (
        <span class="chip">{texts.sessions.current}</span>
      ) : (
        <button type="button" aria-label={texts.sessions.endOne(name, begun)} onClick={onEnd}>
          {texts.sessions.end}
        </button>
      )}
    </li>
  );
}
