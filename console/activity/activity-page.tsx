/** The page of activity: who called what and what came of it, filtered, and followed as it happens. */
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { texts } from "../texts.ts";
import "./activity.css";
import { planOf } from "./act.ts";
import { ActFilters } from "./act-filters.tsx";
import { createActList } from "./act-list.ts";
import { ActRow } from "./act-row.tsx";
import { addressOf, readActFilter } from "./filter.ts";

export function ActivityPage() {
  const { query, route } = useLocation();
  const filter = readActFilter(query);
  const address = addressOf(filter);
  const list = useMemo(() => createActList(filter), [address]);
  useEffect(() => () => list.stop(), [list]);
  useEffect(() => {
    document.title = texts.pageTitle(texts.activity.title);
  }, []);
  const acts = list.acts.value;
  return (
    <main class="page">
      <header class="stack">
        <h1>{texts.activity.title}</h1>
        <p class="small muted">{texts.activity.hint}</p>
      </header>
      <ActFilters filter={filter} onChange={(changes) => route(addressOf({ ...filter, ...changes }))} />
      {list.problem.value !== "" && <p class="error">{list.problem.value}</p>}
      {acts === undefined && list.problem.value === "" && <p>{texts.loading}</p>}
      {acts?.length === 0 && <p class="muted">{texts.activity.empty}</p>}
      <ul class="acts">
        {acts?.map((act) => (
          <ActRow key={act.id} act={act} plan={list.plans.value.get(planOf(act) ?? "")} />
        ))}
      </ul>
      {list.hasMore.value && (
        <div class="row">
          <button type="button" onClick={() => void list.showMore()}>
            {texts.activity.more}
          </button>
        </div>
      )}
    </main>
  );
}
