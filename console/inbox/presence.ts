/** Tells the others which conversation this page shows, and whether the person is writing. */
import { useEffect, useRef } from "preact/hooks";
import { presences } from "../live/live.ts";
import { authorized } from "../service/call.ts";
import { session } from "../session/session.ts";
import { texts } from "../texts.ts";

/** The service forgets a page after 45 seconds. */
const repeatMs = 20_000;
/** After the last key. */
const writingMs = 5_000;

/** @returns to be called whenever the person types */
export function usePresence(conversation: string): () => void {
  const presence = useRef<ReturnType<typeof startPresence> | null>(null);
  useEffect(() => {
    const started = startPresence(conversation);
    presence.current = started;
    return () => started.end();
  }, [conversation]);
  return () => presence.current?.write();
}

function startPresence(conversation_id: string) {
  let isWriting = false;
  let pause: number | undefined;
  const send = (state: "viewing" | "writing" | "away") => {
    const request = authorized("/v1/events/presence", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ conversation_id, state }),
      // Also while the page is closed.
      keepalive: true,
    });
    // The next one is sent soon.
    request.catch(() => undefined);
  };
  const say = () => {
    if (document.visibilityState === "visible") {
      send(isWriting ? "writing" : "viewing");
    }
  };
  const setWriting = (value: boolean) => {
    if (isWriting !== value) {
      isWriting = value;
      say();
    }
  };
  const handleVisibility = () => (document.visibilityState === "visible" ? say() : send("away"));
  const repeat = setInterval(say, repeatMs);
  document.addEventListener("visibilitychange", handleVisibility);
  say();
  return {
    write() {
      clearTimeout(pause);
      pause = setTimeout(() => setWriting(false), writingMs);
      setWriting(true);
    },
    end() {
      clearTimeout(pause);
      clearInterval(repeat);
      document.removeEventListener("visibilitychange", handleVisibility);
      send("away");
    },
  };
}

/** Who else has the conversation open, in words; empty if nobody has. */
export function describeOthers(conversation: string): string {
  const others = presences.value.filter(
    ({ conversation_id, user_id }) => conversation_id === conversation && user_id !== session.value?.user.id,
  );
  const describe = (isWriting: boolean, text: (names: readonly string[]) => string) => {
    const names = others
      .filter(({ is_writing }) => is_writing === isWriting)
      .map(({ user_name }) => user_name);
    return names.length > 0 ? text(names) : "";
  };
  return `${describe(true, texts.conversation.writing)} ${describe(false, texts.conversation.here)}`.trim();
}
