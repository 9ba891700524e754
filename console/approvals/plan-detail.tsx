/** One plan: what it would do, why it waits, whom it reaches, and the decision. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { BroadcastOutcome } from "../activity/broadcast-outcome.tsx";
import { Icon } from "../controls/icon.tsx";
import { describeSender } from "../inbox/names.ts";
import { useFollowedRecord } from "../live/follow-record.ts";
import { call } from "../service/call.ts";
import { holdsScope } from "../session/session.ts";
import { texts } from "../texts.ts";
import { formatMoment } from "../time.ts";
import { DecisionDialog } from "./decision-dialog.tsx";
import type { Plan } from "./plan-list.ts";
import { describePrice, usePlanInbox } from "./price.ts";
import { Subject } from "./subject.tsx";
import { Targets } from "./targets.tsx";

interface Props {
  readonly id: string;
  /** The address of the list. */
  readonly back: string;
}

export function PlanDetail({ id, back }: Props) {
  const { value: plan, problem } = useFollowedRecord<Plan>(id, {
    read: async () => (await call("get_plan", { id, per_page: 1 })).data,
    events: /^plan\./,
    isSettled: ({ status }) => status !== "preparing" && status !== "running",
  });
  const { value } = plan;
  return (
    <section class="detail-side stack" aria-label={value?.summary ?? texts.loading}>
      <a class="detail-back" href={back}>
        <Icon name="back" size={18} />
        {texts.approvals.back}
      </a>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {value === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <Shown plan={value} onChange={(next) => (plan.value = next)} />
      )}
    </section>
  );
}

interface ShownProps {
  readonly plan: Plan;
  readonly onChange: (plan: Plan) => void;
}

function Shown({ plan, onChange }: ShownProps) {
  const step = useSignal<"approve" | "decline" | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const isOpen = plan.status === "awaiting_approval" || plan.status === "released";
  const broadcast = broadcastOf(plan);
  const price = describePrice(plan, usePlanInbox(plan).value);
  return (
    <>
      <header class="stack">
        <h2 ref={heading} tabIndex={-1}>
          {plan.summary}
        </h2>
        <Subject plan={plan} />
        <p class="small muted">
          {texts.approvals.asked(describeSender(plan.created_by), formatMoment(plan.created_at))}
        </p>
      </header>
      {plan.progress !== null && (
        <p role="status">{texts.approvals.preparing(plan.progress.prepared, plan.progress.total)}</p>
      )}
      {plan.why !== null && <List title={texts.approvals.why} items={plan.why} />}
      {plan.warnings.length > 0 && <List title={texts.approvals.warnings} items={plan.warnings} isNotice />}
      <Facts plan={plan} price={price} />
      {broadcast !== undefined && <BroadcastOutcome key={broadcast} id={broadcast} />}
      {isOpen && (
        <div class="row">
          {plan.status === "awaiting_approval" && (
            <button type="button" class="primary" onClick={() => (step.value = "approve")}>
              {texts.approvals.approve}
            </button>
          )}
          <button type="button" onClick={() => (step.value = "decline")}>
            {texts.approvals.decline}
          </button>
        </div>
      )}
      {plan.recipient_count + plan.excluded_count > 0 && <Targets plan={plan} />}
      <details open={plan.recipient_count + plan.excluded_count === 0}>
        <summary>{texts.approvals.input}</summary>
        <pre class="json">{JSON.stringify({ operation: plan.operation, input: plan.input }, null, 2)}</pre>
      </details>
      {step.value !== null && (
        <DecisionDialog
          step={step.value}
          plan={plan}
          price={price}
          onChange={onChange}
          onDecided={() => requestAnimationFrame(() => heading.current?.focus())}
          onClose={() => (step.value = null)}
        />
      )}
    </>
  );
}

/** The broadcast that a plan has sent, if the person may read it. */
function broadcastOf({ status, input: { id } }: Plan): string | undefined {
  const hasRun = status === "run" && typeof id === "string" && id.startsWith("bc_");
  return hasRun && holdsScope("broadcasts:read") ? id : undefined;
}

interface ListProps {
  readonly title: string;
  readonly items: readonly string[];
  readonly isNotice?: boolean;
}

function List({ title, items, isNotice = false }: ListProps) {
  return (
    <section class={isNotice ? "notice" : "stack"}>
      <h3>{title}</h3>
      <ul class="bullets">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </section>
  );
}

interface FactsProps {
  readonly plan: Plan;
  readonly price: string | null;
}

function Facts({ plan, price }: FactsProps) {
  const { facts } = texts.approvals;
  const rows: readonly (readonly [string, string | null])[] = [
    [texts.approvals.statusLabel, texts.approvals.statuses[plan.status]],
    [facts.recipients, plan.recipient_count > 0 ? texts.approvals.people(plan.recipient_count) : null],
    [facts.excluded, plan.excluded_count > 0 ? texts.approvals.people(plan.excluded_count) : null],
    [facts.price, price],
    [facts.undo, plan.is_undoable ? texts.approvals.yes : texts.approvals.no],
    [facts.expires, plan.ended_at === null ? formatMoment(plan.expires_at) : null],
    [facts.runAt, plan.run_at && formatMoment(plan.run_at)],
    [facts.decided, plan.decided_by && describeSender(plan.decided_by)],
    [facts.reason, plan.decision_reason],
    [facts.error, plan.error?.message ?? null],
  ];
  return (
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
  );
}
