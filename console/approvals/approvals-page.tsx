/** The page of approvals: the calls that wait for a person, and the one that is open. */
import { useEffect, useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { describeSender } from "../inbox/names.ts";
import { texts } from "../texts.ts";
import { formatMoment } from "../time.ts";
import "./approvals.css";
import { PlanDetail } from "./plan-detail.tsx";
import {
  createPlanList,
  mostPlans,
  type Plan,
  type PlanList,
  type PlanView,
  planViews,
  readPlanView,
} from "./plan-list.ts";
import { describePrice, readInboxes } from "./price.ts";

export function ApprovalsPage() {
  const { params } = useRoute();
  const { query, route } = useLocation();
  const view = readPlanView(query.show);
  const list = useMemo(() => createPlanList(view), [view]);
  useEffect(() => () => list.stop(), [list]);
  useEffect(() => {
    void readInboxes();
    document.title = texts.pageTitle(texts.approvals.title);
  }, []);
  const { id } = params;
  const search = view === "awaiting_approval" ? "" : `?show=${view}`;
  return (
    <main class={`two-panes${id === undefined ? "" : " has-detail"}`}>
      <section class="list-side" aria-label={texts.approvals.title}>
        <header class="stack">
          <h1>{texts.approvals.title}</h1>
          <ViewSelect view={view} onChange={(next) => route(`/console/approvals?show=${next}`)} />
        </header>
        <PlanRows list={list} view={view} openId={id} search={search} />
      </section>
      {id === undefined ? (
        <div class="empty">
          <p>{texts.approvals.choose}</p>
          <p class="small">{texts.approvals.hint}</p>
        </div>
      ) : (
        <PlanDetail key={id} id={id} back={`/console/approvals${search}`} />
      )}
    </main>
  );
}

function ViewSelect({ view, onChange }: { view: PlanView; onChange: (view: PlanView) => void }) {
  return (
    <label>
      {texts.approvals.show}
      <select value={view} onChange={({ currentTarget }) => onChange(readPlanView(currentTarget.value))}>
        {planViews.map((each) => (
          <option key={each} value={each}>
            {texts.approvals.views[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface RowsProps {
  readonly list: PlanList;
  readonly view: PlanView;
  readonly openId: string | undefined;
  readonly search: string;
}

function PlanRows({ list, view, openId, search }: RowsProps) {
  const plans = list.plans.value;
  if (plans === undefined) {
    return <p class="padded">{list.problem.value || texts.loading}</p>;
  }
  if (plans.length === 0) {
    const text = view === "awaiting_approval" ? texts.approvals.empty : texts.approvals.emptyElsewhere;
    return <p class="padded muted">{text}</p>;
  }
  return (
    <ul class="side-rows">
      {plans.map((plan) => (
        <li key={plan.id}>
          <a
            href={`/console/approvals/${plan.id}${search}`}
            aria-current={plan.id === openId ? "true" : undefined}
            data-plan={plan.id}
          >
            <PlanSummary plan={plan} />
          </a>
        </li>
      ))}
      {plans.length < list.total.value && (
        <li class="padded">
          {list.hasMore() ? (
            <button type="button" onClick={list.showMore}>
              {texts.approvals.more}
            </button>
          ) : (
            <p class="small muted">{texts.approvals.cut(mostPlans)}</p>
          )}
        </li>
      )}
    </ul>
  );
}

function PlanSummary({ plan }: { plan: Plan }) {
  const { recipient_count, input } = plan;
  const price = describePrice(plan, typeof input.inbox_id === "string" ? input.inbox_id : null);
  return (
    <>
      <span class="row spread">
        <span class="chip">{texts.approvals.statuses[plan.status]}</span>
        <time class="small muted" dateTime={plan.created_at}>
          {formatMoment(plan.created_at)}
        </time>
      </span>
      <span>{plan.summary}</span>
      <span class="small muted">
        {[
          describeSender(plan.created_by),
          ...(recipient_count > 0 ? [texts.approvals.people(recipient_count)] : []),
          ...(price === null ? [] : [price]),
        ].join(" · ")}
      </span>
    </>
  );
}
