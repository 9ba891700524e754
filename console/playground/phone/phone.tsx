/** A simulated phone: what the customer sees, taps and writes. */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { texts } from "../../texts.ts";
import type { Inbox } from "../available.ts";
import type { Customer } from "../customers.ts";
import { readAsCustomer, writeAsCustomer } from "../simulator.ts";
import { createPhoneFeed } from "./phone-feed.ts";
import { type CustomerContent, PhoneForm } from "./phone-form.tsx";
import { PhoneBubble } from "./phone-message.tsx";

const words = texts.playground.phone;
/** How near to the end the phone follows new messages. */
const atEndPx = 50;

interface Props {
  readonly inbox: Inbox;
  readonly customer: Customer;
  /** Called when the customer has written. */
  readonly onWrite: () => void;
}

export function Phone({ inbox, customer: { number, name }, onWrite }: Props) {
  const feed = useMemo(() => createPhoneFeed(number), [number]);
  useEffect(() => () => feed.stop(), [feed]);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const messages = feed.messages.value;
  useLayoutEffect(() => {
    if (isAtEnd.current) {
      scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
    }
  }, [messages]);

  const send = async (content: CustomerContent, channel_message_id: string) => {
    const named = name === null ? {} : { name };
    isAtEnd.current = true;
    await writeAsCustomer({ from: number, to: inbox.phone_number, channel_message_id, ...named, ...content });
    feed.refresh();
    onWrite();
  };
  const canRead = messages?.some(
    ({ direction, status }) => direction === "outbound" && status === "delivered",
  );
  return (
    <section class="phone" aria-label={words.title(name ?? number)}>
      <header class="row spread">
        <div>
          <h2>{inbox.name}</h2>
          <p class="small muted">{words.of(name, number)}</p>
        </div>
        <button
          type="button"
          disabled={!canRead}
          onClick={() =>
            void attempt(async () => {
              await readAsCustomer(number);
              feed.refresh();
            })
          }
        >
          {words.read}
        </button>
      </header>
      {feed.problem.value !== "" && <p class="notice bad">{feed.problem.value}</p>}
      <div
        class="phone-log"
        role="log"
        aria-label={words.log}
        ref={scroller}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < atEndPx;
        }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
      >
        {messages?.length === 0 && <p class="empty">{words.empty}</p>}
        <ol>
          {messages?.map((message) => (
            <PhoneBubble
              key={message.id}
              message={message}
              onChoose={(reply, { id }) =>
                void attempt(() => send({ reply, reply_to: id }, crypto.randomUUID()))
              }
            />
          ))}
        </ol>
      </div>
      <PhoneForm onSend={send} />
    </section>
  );
}
