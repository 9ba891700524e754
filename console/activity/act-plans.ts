/** The plans of the calls that had to wait for a person: what has become of each call since. */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Plan } from "../approvals/plan-list.ts";
import { call } from "../service/call.ts";
import { type Act, planOf } from "./act.ts";

export interface ActPlans {
  /** By their ids. A plan that the person may not read has no entry. */
  readonly plans: ReadonlySignal<ReadonlyMap<string, Plan>>;
  /** Reads the plans of the acts again, except those that have ended. */
  read(acts: readonly Act[]): Promise<void>;
}

const mostListed = 100;

export function createActPlans(): ActPlans {
  const plans = signal<ReadonlyMap<string, Plan>>(new Map());
  const unreadable = new Set<string>();
  return {
    plans,
    async read(acts) {
      const ids = acts.flatMap((act) => planOf(act) ?? []);
      const open = ids.filter((id) => (plans.value.get(id)?.ended_at ?? null) === null);
      const wanted = new Set(open.filter((id) => !unreadable.has(id)));
      if (wanted.size === 0) {
        return;
      }
      const { data: latest } = await call("list_plans", { page: 1, per_page: mostListed });
      const found = latest.filter(({ id }) => wanted.delete(id));
      for (const id of wanted) {
        // One that was erased stays away.
        const plan = await call("get_plan", { id, per_page: 1 }).catch(() => undefined);
        if (plan === undefined) {
          unreadable.add(id);
        } else {
          found.push(plan.data);
        }
      }
      plans.value = new Map([...plans.value, ...found.map((plan) => [plan.id, plan] as const)]);
    },
  };
}
