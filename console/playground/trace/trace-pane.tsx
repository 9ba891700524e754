/** The live trace: for each message the call, the flow or bot, the events, the webhooks and the money. */
import { useEffect, useMemo } from "preact/hooks";
import type { Act } from "../../activity/act.ts";
import { sentenceOf, stateOfAct } from "../../activity/describe-act.ts";
import { describeAgent } from "../../activity/describe-agent.ts";
import { HistoryView } from "../../activity/message-history.tsx";
import { describeContent } from "../../inbox/conversation/message-content.tsx";
import { preferences, setPreference } from "../../preferences.ts";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import { mayDo } from "../available.ts";
import { createTrace, type FlowRun, type TraceEntry } from "./trace.ts";

const words = texts.playground.trace;

export function TracePane({ conversation }: { conversation: string | null }) {
  const { hasIds } = preferences.value;
  return (
    <section class={`trace stack ${hasIds ? "" : "without-ids"}`} aria-label={words.title}>
      <div class="row spread">
        <h2>{words.title}</h2>
        <label class="check small">
          <input
            type="checkbox"
            checked={hasIds}
            onChange={({ currentTarget }) => setPreference("hasIds", currentTarget.checked)}
          />
          {words.showIds}
        </label>
      </div>
      {conversation === null ? (
        <p class="muted">{words.empty}</p>
      ) : (
        <ConversationTrace key={conversation} id={conversation} />
      )}
    </section>
  );
}

function ConversationTrace({ id }: { id: string }) {
  const trace = useMemo(() => createTrace(id), [id]);
  useEffect(() => () => trace.stop(), [trace]);
  return (
    <>
      <p class="small">
        <a href={`/console/inbox/${id}`}>{texts.activity.openConversation}</a> <code>{id}</code>
      </p>
      {!mayDo("tokens:read") && <p class="notice">{words.partial}</p>}
      {trace.problem.value !== "" && <p class="notice bad">{trace.problem.value}</p>}
      {trace.runs.value.length > 0 && <Runs runs={trace.runs.value} />}
      <ol class="stack">
        {trace.entries.value?.map((entry) => (
          <Entry key={entry.message.id} entry={entry} />
        ))}
      </ol>
    </>
  );
}

function Runs({ runs }: { runs: readonly FlowRun[] }) {
  return (
    <section class="stack">
      <h3>{words.runs}</h3>
      <ul class="events small">
        {runs.map(({ id, flow_id, status, node_id, due_at, reason }) => (
          <li key={id} data-run={id}>
            <span>
              {words.run(status, node_id, due_at === null ? null : formatMoment(due_at))}
              {reason !== null && ` · ${reason}`}
            </span>
            <code>{id}</code>
            <code>{flow_id}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Entry({ entry: { message, history, events } }: { entry: TraceEntry }) {
  const { id, direction, status, conversation_id, created_at, error } = message;
  return (
    <li class="trace-entry" data-trace={id}>
      <details open>
        <summary>
          <strong>{words.directions[direction]}</strong>
          <span class={`chip status-${status}`}>{texts.messageStatuses[status]}</span>
          <time class="small muted" dateTime={created_at}>
            {formatMoment(created_at)}
          </time>
          <span class="truncate trace-text">{describeContent(message)}</span>
        </summary>
        <p class="small">
          <a href={`/console/inbox/${conversation_id}?message=${id}`}>{words.openMessage}</a>{" "}
          <code>{id}</code>
        </p>
        {error !== null && (
          <p class="notice bad">
            <strong>{error.title}</strong> {error.hint}
          </p>
        )}
        {history.call !== null && <CallLine act={history.call} contact={history.contact_id} />}
        <HistoryView history={history} />
        {events.length > 0 && (
          <section class="stack trace-events">
            <h4>{words.events}</h4>
            <ul class="events small">
              {events.map((event) => (
                <li key={event.id}>
                  <span>
                    {event.type} <code>{event.id}</code>
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </details>
    </li>
  );
}

/** The call that sent the message, or that started what sent it. */
function CallLine({ act, contact }: { act: Act; contact: string }) {
  const { id, operation, tool, by } = act;
  const filter = new URLSearchParams({ operation, contact_id: contact });
  const how = tool === null ? texts.activity.rest : texts.activity.tool(tool);
  return (
    <p class="small call-line">
      <a href={`/console/activity?${filter}`}>{sentenceOf(act)}</a>{" "}
      {words.call(how, describeAgent(by), stateOfAct(act).text)} <code>{id}</code>
    </p>
  );
}
