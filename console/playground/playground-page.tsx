/** The playground: a simulated phone, the conversation in the inbox, and the trace of its messages. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { attempt } from "../controls/attempt.ts";
import { restoreOutbox } from "../inbox/compose/outbox.ts";
import { readDirectory } from "../inbox/directory.ts";
import "../inbox/inbox.css";
import "../inbox/conversation/conversation.css";
import "../activity/activity.css";
import { ConversationPane } from "../inbox/conversation/conversation-pane.tsx";
import { texts } from "../texts.ts";
import { availability, type Inbox, mayDo } from "./available.ts";
import { ControlsPane } from "./controls/controls-pane.tsx";
import { SamplePanel } from "./controls/sample-panel.tsx";
import { CustomerBar, suggestNumber } from "./customer-bar.tsx";
import { type Customer, createCustomerList } from "./customers.ts";
import { FaultNotice } from "./fault-notice.tsx";
import { Phone } from "./phone/phone.tsx";
import "./playground.css";
import { TracePane } from "./trace/trace-pane.tsx";

const words = texts.playground;

export function PlaygroundPage() {
  const { query } = useLocation();
  useEffect(() => {
    document.title = texts.pageTitle(words.title);
    void attempt(readDirectory);
    restoreOutbox();
  }, []);
  if (!mayDo("inbox:read", "inbox:write")) {
    return <Message text={words.notPermitted} />;
  }
  if (availability.value === null) {
    return <Message text={texts.loading} />;
  }
  const { inboxes, hasControls } = availability.value;
  if (!hasControls) {
    return <Message text={words.off} />;
  }
  const inbox = query.inbox === undefined ? inboxes[0] : inboxes.find(({ id }) => id === query.inbox);
  if (inbox === undefined) {
    return (
      <main class="empty">
        <h1>{words.title}</h1>
        <p>{words.noSuchInbox}</p>
        <a href="/console/playground">{words.back}</a>
      </main>
    );
  }
  return <Playground key={inbox.id} inbox={inbox} />;
}

function Message({ text }: { text: string }) {
  return (
    <main class="empty">
      <h1>{words.title}</h1>
      <p>{text}</p>
    </main>
  );
}

const views = ["phone", "conversation", "trace", "controls"] as const;
type View = (typeof views)[number];

/** The address has the inbox and the customer. */
function useCustomers(inbox: Inbox) {
  const { query, route } = useLocation();
  const number = query.number || undefined;
  const list = useMemo(() => createCustomerList(inbox.id, number), [inbox.id, number]);
  useEffect(() => () => list.stop(), [list]);
  const customers = list.customers.value;
  const show = ({ number, name }: Pick<Customer, "number" | "name">, isReplaced = false) => {
    const named = new URLSearchParams({ inbox: inbox.id, number });
    if (name !== null) {
      named.set("name", name);
    }
    route(`/console/playground?${named}`, isReplaced);
  };
  useEffect(() => {
    if (number === undefined && customers !== undefined) {
      show(customers[0] ?? { number: suggestNumber([]), name: words.customer.firstName }, true);
    }
  }, [number, customers]);
  const known = customers?.find((customer) => customer.number === number);
  const customer =
    number === undefined ? undefined : (known ?? { number, name: query.name ?? null, conversation_id: null });
  return { list, customers: customers ?? [], customer, show };
}

function Playground({ inbox }: { inbox: Inbox }) {
  const { route } = useLocation();
  const { list, customers, customer, show } = useCustomers(inbox);
  const view = useSignal<View>(firstView());
  if (customer === undefined) {
    return <Message text={list.problem.value || texts.loading} />;
  }
  const { number, conversation_id } = customer;
  return (
    <main class="playground">
      <h1 class="visually-hidden">{words.title}</h1>
      <div class="row spread play-bar">
        <CustomerBar
          inbox={inbox}
          customer={customer}
          customers={customers}
          onCustomer={show}
          onInbox={(id) => route(`/console/playground?${new URLSearchParams({ inbox: id, number })}`)}
        />
        <ViewSwitch view={view} />
      </div>
      <div>
        {list.problem.value !== "" && <p class="notice bad">{list.problem.value}</p>}
        <FaultNotice
          number={number}
          onOpen={() => {
            view.value = "controls";
          }}
        />
      </div>
      <div class="play-panes" data-view={view.value}>
        <div class="play-phone">
          <Phone key={number} inbox={inbox} customer={customer} onWrite={list.refresh} />
        </div>
        <div class="play-conversation">
          {conversation_id === null ? (
            <div class="stack play-begin">
              <p>{words.noConversation}</p>
              <p>{words.begin}</p>
              {customers.every((each) => each.conversation_id === null) && <SamplePanel inbox={inbox} />}
            </div>
          ) : (
            <ConversationPane
              key={conversation_id}
              id={conversation_id}
              hasPanel={false}
              onLeave={() => {
                view.value = "phone";
              }}
            />
          )}
        </div>
        <div class="play-trace">
          <TracePane conversation={conversation_id} />
        </div>
        <div class="play-controls">
          <ControlsPane inbox={inbox} number={number} />
        </div>
      </div>
    </main>
  );
}

/** A narrow screen shows one pane, a wider one the phone beside it, a wide one also the conversation. */
function firstView(): View {
  if (matchMedia("(min-width: 1101px)").matches) {
    return "trace";
  }
  return matchMedia("(min-width: 681px)").matches ? "conversation" : "phone";
}

function ViewSwitch({ view }: { view: Signal<View> }) {
  return (
    <fieldset class="row tabs view-switch" aria-label={words.viewsLabel}>
      {views.map((each) => (
        <button
          type="button"
          key={each}
          class={`view-${each}`}
          aria-pressed={view.value === each}
          onClick={() => {
            view.value = each;
          }}
        >
          {words.views[each]}
        </button>
      ))}
    </fieldset>
  );
}
