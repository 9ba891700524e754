/** What happened to a message: its reasons, receipts, money and webhooks, read when it is opened. */
import { useSignal } from "@preact/signals";
import { type Answer, call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { texts } from "../texts.ts";
import { formatComplete } from "../time.ts";

export type History = Answer<"explain_message">["data"];

const { history: words } = texts.activity;

export function MessageHistory({ id }: { id: string }) {
  const history = useSignal<History | null>(null);
  const problem = useSignal("");
  const read = async () => {
    try {
      history.value = (await call("explain_message", { id })).data;
      problem.value = "";
    } catch (error) {
      problem.value = describeError(error);
    }
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void read()}>
      <summary>{words.show}</summary>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {history.value !== null && <HistoryView history={history.value} />}
    </details>
  );
}

export function HistoryView({ history }: { history: History }) {
  const reasons = listReasons(history.reasons);
  const { routing } = history.reasons;
  return (
    <div class="stack act-detail">
      {reasons.length > 0 && (
        <section class="stack">
          <h4>{words.reasons}</h4>
          <ul class="bullets">
            {reasons.map(({ id, text }) => (
              <li key={id}>
                {text} <code>{id}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      {routing !== null && (
        <section class="stack">
          <h4>{words.assignment}</h4>
          <p>
            {words.routing(routing.explanation)} <code>{routing.id}</code>
          </p>
        </section>
      )}
      <section class="stack">
        <h4>{words.events}</h4>
        <ol class="events">
          {listEvents(history).map(({ at, text, id }) => (
            <li key={`${at} ${text}`}>
              <time class="small muted" dateTime={at}>
                {formatComplete(at)}
              </time>
              <span>
                {text} {id !== "" && <code>{id}</code>}
              </span>
            </li>
          ))}
        </ol>
      </section>
      {history.webhooks !== null && history.webhooks.length > 0 && (
        <section class="stack">
          <h4>{words.webhooks}</h4>
          <ul class="events">
            {history.webhooks.map((delivery) => (
              <li key={`${delivery.webhook_id} ${delivery.id}`}>
                <span>
                  {words.webhook(delivery.type, delivery.url)} <code>{delivery.id}</code>
                </span>
                <span class="small muted">
                  {words.webhookState(
                    delivery.status,
                    delivery.attempt_count,
                    String(delivery.last_status_code ?? words.none),
                  )}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

interface Reason {
  readonly id: string;
  readonly text: string;
}

function listReasons({ broadcast, flow, bot, plan }: History["reasons"]): Reason[] {
  return [
    ...(broadcast === null ? [] : [{ id: broadcast.id, text: words.broadcast(broadcast.name) }]),
    ...(flow === null ? [] : [{ id: flow.run_id, text: words.flow(flow.node_id) }]),
    ...(bot === null ? [] : [{ id: bot.turn_id, text: words.bot }]),
    ...(plan === null ? [] : [{ id: plan.id, text: words.plan(plan.summary) }]),
  ];
}

/** Acceptance, money and receipts in the order of their times. Only money has an id of its own. */
function listEvents({ message, money, receipts, attempts: { refused, last_at, last_error } }: History) {
  const events = [
    {
      at: message.created_at,
      text: message.direction === "inbound" ? words.received : words.accepted,
      id: "",
    },
    ...money.map(({ id, created_at, type, simulated, ...price }) => {
      const amount = texts.approvals.money(price);
      return { at: created_at, text: words.money(type, simulated ? words.simulated(amount) : amount), id };
    }),
    ...(refused === 0 || last_at === null
      ? []
      : [{ at: last_at, text: words.refused(refused, last_error?.title ?? words.none), id: "" }]),
    ...receipts.map(({ occurred_at, type, error }) => ({
      at: occurred_at,
      text: error === null ? words.receipts[type] : words.receiptFailed(error.title),
      id: "",
    })),
  ];
  return events.sort((a, b) => a.at.localeCompare(b.at));
}
