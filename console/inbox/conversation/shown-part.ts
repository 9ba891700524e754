/**
 * Which messages of a long conversation are in the page. Older messages are added while the reader scrolls
 * up, and the newest ones are then removed, so that the page stays small. What the reader sees stays where it
 * is meanwhile. At the end of the conversation the page follows new messages.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Message, OpenConversation } from "./open-conversation.ts";

const step = 50;
const mostShown = 250;
/** How near to an edge more messages are added. */
const nearPx = 400;
/** How near to the end the page follows new messages. */
const atEndPx = 50;

interface Changes {
  /** What the page shows; when it changes, a page at the end scrolls to the new end. */
  readonly content: readonly unknown[];
  /** How many messages wait to be sent; when one more does, the page goes to the end. */
  readonly waiting: number;
}

export function useShownPart(conversation: OpenConversation, { content, waiting }: Changes) {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /** Older messages are being read for one that is wanted: the page stays where it is. */
  const isRevealing = useRef(false);
  /** The id of the message that the next rendering scrolls to. */
  const revealed = useRef("");
  /** How many of the newest messages are not shown, and how many messages are shown. */
  const skipped = useSignal(0);
  const count = useSignal(step);
  const redraw = useSignal(0);
  const arrived = useArrived(conversation.messages.value);
  if (arrived > 0 && !isAtEnd.current) {
    // What is shown stays the same: the reader is not at the end.
    skipped.value += arrived;
  }
  const end = conversation.messages.value.length - skipped.value;
  const start = Math.max(end - count.value, 0);
  const position = useKeptPosition(scroller, [start, end]);

  const showOlder = () => {
    if (start === 0) {
      void conversation.readOlder();
    } else {
      position.keep();
      const added = Math.min(step, start);
      const removed = Math.max(count.value + added - mostShown, 0);
      count.value += added - removed;
      skipped.value += removed;
    }
  };
  const showNewer = () => {
    position.keep();
    skipped.value = Math.max(skipped.value - step, 0);
  };
  const handleScroll = () => {
    const { current: element } = scroller;
    if (element !== null && !isRevealing.current) {
      const below = element.scrollHeight - element.scrollTop - element.clientHeight;
      isAtEnd.current = below < atEndPx;
      if (element.scrollTop < nearPx && element.scrollHeight > element.clientHeight) {
        showOlder();
      } else if (below < nearPx && skipped.value > 0) {
        showNewer();
      }
    }
  };
  const scrollToEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });

  useLayoutEffect(() => {
    if (isAtEnd.current && skipped.value === 0 && !isRevealing.current) {
      conversation.forgetOldest();
      scrollToEnd();
    }
  }, content);
  useEffect(handleScroll, [start]);
  // The reply box grows with files, warnings and lines of text.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && skipped.value === 0 && !isRevealing.current) {
        scrollToEnd();
      }
    });
    if (scroller.current !== null) {
      observer.observe(scroller.current);
    }
    return () => observer.disconnect();
  }, []);
  const showLatest = () => {
    skipped.value = 0;
    count.value = step;
    isAtEnd.current = true;
    requestAnimationFrame(scrollToEnd);
  };
  /** Shows a message and those around it. @returns whether it was found */
  const reveal = async (message: string) => {
    isRevealing.current = true;
    const isFound = await conversation.readBackTo(message);
    if (isFound) {
      isAtEnd.current = false;
      const newer = conversation.messages.value.toReversed().findIndex(({ id }) => id === message);
      skipped.value = Math.max(newer - step / 2, 0);
      count.value = step;
      revealed.current = message;
      redraw.value += 1;
    } else {
      isRevealing.current = false;
    }
    return isFound;
  };
  useLayoutEffect(() => {
    const selector = `[data-message="${CSS.escape(revealed.current)}"]`;
    const bubble = scroller.current?.querySelector(selector);
    bubble?.scrollIntoView({ block: "center" });
    revealed.current = "";
    isRevealing.current = false;
  }, [redraw.value]);
  const waited = useRef(waiting);
  useEffect(() => {
    if (waiting > waited.current && !isAtEnd.current) {
      showLatest();
    }
    waited.current = waiting;
  }, [waiting]);
  return {
    scroller,
    start,
    end,
    hasFirst: start === 0,
    hasLast: skipped.value === 0,
    handleScroll,
    showLatest,
    reveal,
  };
}

/** How many messages have been added at the end since the last render. */
function useArrived(messages: readonly Message[]): number {
  const latest = useRef<string | undefined>(undefined);
  const at = messages.findLastIndex(({ id }) => id === latest.current);
  latest.current = messages.at(-1)?.id;
  return at < 0 ? 0 : messages.length - 1 - at;
}

/**
 * Keeps what the reader sees in its place while messages above it are added or removed. Browsers do that by
 * themselves in some cases alone, not at the very top.
 *
 * @param shown what changes when messages are added or removed
 */
function useKeptPosition(scroller: { readonly current: HTMLElement | null }, shown: readonly unknown[]) {
  const kept = useRef<{ readonly element: Element; readonly top: number } | null>(null);
  useLayoutEffect(() => {
    const { current: area } = scroller;
    if (area !== null && kept.current?.element.isConnected) {
      area.scrollTop += kept.current.element.getBoundingClientRect().top - kept.current.top;
      area.style.overflowAnchor = "";
    }
    kept.current = null;
  }, shown);
  return {
    keep() {
      const { current: area } = scroller;
      const top = area?.getBoundingClientRect().top ?? 0;
      const bubbles = [...(area?.querySelectorAll("[data-message]") ?? [])];
      const element = bubbles.find((bubble) => bubble.getBoundingClientRect().bottom > top);
      if (area !== null && element !== undefined) {
        kept.current = { element, top: element.getBoundingClientRect().top };
        area.style.overflowAnchor = "none";
      }
    },
  };
}
