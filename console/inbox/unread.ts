/** What is new: conversations that nobody has read, mentions that the person has not seen, and a sound. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { showLink } from "../controls/toast.tsx";
import { type LiveEvent, listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { preferences } from "../preferences.ts";
import { call } from "../service/call.ts";
import { isTemporary } from "../service/errors.ts";
import { pause } from "../service/pause.ts";
import { session } from "../session/session.ts";
import { texts } from "../texts.ts";

const mentions = signal(0);
/** How many conversations have a note for the person that is later than the last reading. */
export const unreadMentions: ReadonlySignal<number> = mentions;

type Counted = "unread" | "unread_mentions";

/** Reads how many conversations the filter has whenever it is called. */
function createCounter(filter: Counted, onCount: (count: number) => void) {
  const read = async () => {
    try {
      const { meta } = await call("list_conversations", { filter, per_page: 1 });
      onCount(meta.total);
      return true;
    } catch (error) {
      return !isTemporary(error);
    }
  };
  return createRefresher(read, { delayMs: 300, whileHidden: true });
}

/** Events after which the person may have more or fewer mentions. */
const concernsMentions = /^(note|conversation)\./;

/** @returns a function that ends it */
export function watchUnread(): () => void {
  // Every event is followed by this call. Unlike `unread_by_me`, an index has these conversations.
  const unread = createCounter("unread", show);
  const mentioned = createCounter("unread_mentions", (count) => {
    mentions.value = count;
  });
  const stopListening = listen((event) => {
    unread();
    if (event === "resync") {
      mentioned();
      return;
    }
    if (concernsMentions.test(event.type)) {
      mentioned();
    }
    const isMentioned = mentionsMe(event);
    if (isMentioned) {
      const { author, conversation_id } = event.data;
      showLink(texts.mentioned(author?.name ?? ""), `/console/inbox/${conversation_id}`);
    }
    if ((isMentioned || event.type === "message.received") && preferences.value.hasSound) {
      void playOnce();
    }
  });
  unread.start();
  mentioned.start();
  return () => {
    stopListening();
    unread.stop();
    mentioned.stop();
    show(0);
  };
}

function mentionsMe({ type, data: { mentions = [] } }: LiveEvent): boolean {
  const id = session.value?.user.id;
  return type === "note.created" && id !== undefined && mentions.includes(id);
}

function show(count: number): void {
  document.title = texts.title(count);
  void navigator.setAppBadge?.(count).catch(() => undefined);
}

/** How long one sound stands for further events, also those of the other tabs. */
const quietMs = 2_000;

/** Every tab gets every event: the first one plays the sound. A tab that was not used may play none. */
async function playOnce(): Promise<void> {
  if (navigator.userActivation?.hasBeenActive === false) {
    return;
  }
  if (!navigator.locks) {
    playSound();
    return;
  }
  await navigator.locks.request("tidings-sound", { ifAvailable: true }, async (lock) => {
    if (lock !== null) {
      playSound();
      await pause(quietMs);
    }
  });
}

const [toneHz, toneSeconds] = [660, 0.15];

function playSound(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = toneHz;
  volume.gain.setValueAtTime(0.1, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + toneSeconds);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + toneSeconds);
  tone.onended = () => void audio.close();
}
