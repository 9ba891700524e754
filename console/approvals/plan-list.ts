/** The plans that a view shows, read page by page and again after events. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { type Answer, call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { isTemporary } from "../service/errors.ts";

export type Plan = Answer<"list_plans">["data"][number];

export const planViews = ["awaiting_approval", "released", "all"] as const;
export type PlanView = (typeof planViews)[number];

export function readPlanView(text: string | undefined): PlanView {
  return planViews.find((view) => view === text) ?? "awaiting_approval";
}

export interface PlanList {
  /** Undefined until they were read. */
  readonly plans: ReadonlySignal<readonly Plan[] | undefined>;
  readonly total: ReadonlySignal<number>;
  readonly problem: ReadonlySignal<string>;
  /** Whether `showMore` can show more. */
  hasMore(): boolean;
  showMore(): void;
  stop(): void;
}

const pageSize = 25;
/** One request returns no more. */
export const mostPlans = 100;

export function createPlanList(view: PlanView): PlanList {
  const plans = signal<readonly Plan[] | undefined>(undefined);
  const total = signal(0);
  const problem = signal("");
  let wanted = pageSize;
  const read = async () => {
    try {
      const status = view === "all" ? {} : { status: view };
      const { data, meta } = await call("list_plans", { ...status, page: 1, per_page: wanted });
      plans.value = data;
      total.value = meta.total;
      problem.value = "";
      return true;
    } catch (error) {
      problem.value = describeError(error);
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 300 });
  const stopListening = listen((event) => {
    if (event === "resync" || event.type.startsWith("plan.")) {
      refresh();
    }
  });
  refresh.start();
  return {
    plans,
    total,
    problem,
    hasMore: () => wanted < mostPlans,
    showMore() {
      wanted = Math.min(wanted + pageSize, mostPlans);
      refresh();
    },
    stop() {
      stopListening();
      refresh.stop();
    },
  };
}
