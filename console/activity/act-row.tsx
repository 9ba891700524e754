/** One act: a line that opens to its arguments, its answer, and what happened to its messages. */
import { useSignal } from "@preact/signals";
import type { Plan } from "../approvals/plan-list.ts";
import { kindOf, nameOfRecord } from "../service/record-names.ts";
import { texts } from "../texts.ts";
import { formatComplete, formatMoment } from "../time.ts";
import type { Act } from "./act.ts";
import { BroadcastOutcome } from "./broadcast-outcome.tsx";
import { sentenceOf, stateOfAct } from "./describe-act.ts";
import { describeAgent } from "./describe-agent.ts";
import { MessageHistory } from "./message-history.tsx";

interface Props {
  readonly act: Act;
  /** Of a call that had to wait, once it is known. */
  readonly plan: Plan | undefined;
}

export function ActRow({ act, plan }: Props) {
  const isOpen = useSignal(false);
  const state = stateOfAct(act, plan);
  return (
    <li>
      <details data-act={act.operation} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>
          <time class="small muted" dateTime={act.created_at}>
            {formatMoment(act.created_at)}
          </time>
          <strong class="act-name">{sentenceOf(act, plan)}</strong>
          <span class="act-by">{describeAgent(act.by)}</span>
          <span class={`chip ${state.class}`}>{state.text}</span>
        </summary>
        {isOpen.value && <ActDetail act={act} />}
      </details>
    </li>
  );
}

function ActDetail({ act }: { act: Act }) {
  const { facts, arguments: title, erased } = texts.activity;
  const rows: readonly (readonly [string, string | null])[] = [
    [facts.operation, act.operation],
    [facts.time, formatComplete(act.created_at)],
    [facts.how, act.tool === null ? texts.activity.rest : texts.activity.tool(act.tool)],
    [facts.status, String(act.status)],
    [facts.error, act.error_code],
    [facts.duration, texts.activity.duration(act.duration_ms)],
    [facts.session, act.session_id],
  ];
  return (
    <div class="act-detail stack">
      <dl class="facts-grid">
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      <section class="stack">
        <h3>{title}</h3>
        {act.arguments === null ? (
          <p class="muted">{erased}</p>
        ) : (
          <pre class="json">{JSON.stringify(act.arguments, null, 2)}</pre>
        )}
      </section>
      {act.ids.length > 0 && <Ids ids={act.ids} />}
      {act.ids
        .filter((id) => kindOf(id) === "bc")
        .map((id) => (
          <BroadcastDetails key={id} id={id} />
        ))}
      {act.ids
        .filter((id) => kindOf(id) === "msg")
        .map((id) => (
          <MessageHistory key={id} id={id} />
        ))}
    </div>
  );
}

/** It is read while it is open. */
function BroadcastDetails({ id }: { id: string }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{texts.activity.broadcast.show}</summary>
      {isOpen.value && <BroadcastOutcome id={id} />}
    </details>
  );
}

/** What the act was about, with links to what the console shows. */
function Ids({ ids }: { ids: readonly string[] }) {
  return (
    <section class="stack">
      <h3>{texts.activity.about}</h3>
      <ul class="ids">
        {ids.map((id) => (
          <li key={id}>
            <span>{describeRecord(id)}</span>
            <IdLink id={id} />
            <code class="muted">{id}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function describeRecord(id: string): string {
  const { kinds, otherKind, conversationWith, record } = texts.activity;
  const kind = kindOf(id);
  const name = nameOfRecord(id).value;
  return kind === "conv" && name !== "" ? conversationWith(name) : record(kinds[kind] ?? otherKind, name);
}

function IdLink({ id }: { id: string }) {
  if (id.startsWith("conv_")) {
    return <a href={`/console/inbox/${id}`}>{texts.activity.openConversation}</a>;
  }
  if (id.startsWith("plan_")) {
    return <a href={`/console/approvals/${id}?show=all`}>{texts.activity.openPlan}</a>;
  }
  if (id.startsWith("con_")) {
    return <a href={`/console/activity?contact_id=${id}`}>{texts.activity.onlyContact}</a>;
  }
  return null;
}
