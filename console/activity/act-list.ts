/** The acts that a filter selects, the newest first: read page by page, and followed while they are shown. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { isTemporary } from "../service/errors.ts";
import type { Act } from "./act.ts";
import { type ActPlans, createActPlans } from "./act-plans.ts";
import { type ActFilter, inputOf } from "./filter.ts";

export interface ActList {
  /** Undefined until they were read. */
  readonly acts: ReadonlySignal<readonly Act[] | undefined>;
  /** Of the calls that had to wait. */
  readonly plans: ActPlans["plans"];
  readonly hasMore: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<string>;
  showMore(): Promise<void>;
  stop(): void;
}

const pageSize = 50;
/** Acts that are followed; more are kept only for a reader who asks for older ones. */
const mostFollowed = 200;
/** Not every act has an event. */
const pollMs = 5_000;

export function createActList(filter: ActFilter): ActList {
  const acts = signal<readonly Act[] | undefined>(undefined);
  const problem = signal("");
  /** Where older acts begin; null if there are none. */
  const cursor = signal<string | null>(null);
  let mostKept = mostFollowed;
  const input = { ...inputOf(filter), per_page: pageSize };
  const plans = createActPlans();

  const read = async () => {
    try {
      const { data, meta } = await call("list_activity", input);
      const known = acts.value ?? [];
      const ids = new Set(data.map(({ id }) => id));
      const overlaps = known.some(({ id }) => ids.has(id));
      if (overlaps) {
        const all = [...data, ...known.filter(({ id }) => !ids.has(id))];
        acts.value = all.slice(0, mostKept);
        // The service's cursor is the id of the last act before it.
        cursor.value = all.length > mostKept ? (acts.value.at(-1)?.id ?? null) : cursor.value;
      } else {
        acts.value = data;
        cursor.value = meta.cursor;
      }
      problem.value = "";
      await plans.read(acts.value);
      return true;
    } catch (error) {
      problem.value = describeError(error);
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 500 });
  const stopListening = listen(() => refresh());
  const timer = setInterval(() => refresh(), pollMs);
  refresh.start();
  return {
    acts,
    plans: plans.plans,
    hasMore: computed(() => cursor.value !== null),
    problem,
    async showMore() {
      const after = cursor.value;
      if (after === null) {
        return;
      }
      try {
        const { data, meta } = await call("list_activity", { ...input, after });
        if (cursor.value !== after) {
          return;
        }
        const ids = new Set(acts.value?.map(({ id }) => id));
        acts.value = [...(acts.value ?? []), ...data.filter(({ id }) => !ids.has(id))];
        cursor.value = meta.cursor;
        mostKept = Math.max(mostKept, acts.value.length);
        await plans.read(data);
      } catch (error) {
        problem.value = describeError(error);
      }
    },
    stop() {
      clearInterval(timer);
      stopListening();
      refresh.stop();
    },
  };
}
