/** Whether the assistant has connected, and what it called last, as it happens. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Act, planOf } from "../../activity/act.ts";
import { sentenceOf, stateOfAct } from "../../activity/describe-act.ts";
import type { Plan } from "../../approvals/plan-list.ts";
import { createRefresher } from "../../live/refresh.ts";
import { call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary } from "../../service/errors.ts";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import { readKey } from "../keys/read-keys.ts";

const { assistant: words } = texts.settings;

/** Connecting and reading have no events. */
const pollMs = 3_000;

export function AssistantState({ id }: { readonly id: string }) {
  const usedAt = useSignal<string | null>(null);
  const act = useSignal<Act | null>(null);
  const plan = useSignal<Plan | undefined>(undefined);
  const problem = useSignal("");
  useEffect(() => {
    const read = async () => {
      try {
        const [key, acts] = await Promise.all([readKey(id), call("list_activity", { by: id, per_page: 1 })]);
        usedAt.value = key.last_used_at;
        const latest = acts.data[0] ?? null;
        const held = latest === null ? undefined : planOf(latest);
        plan.value =
          held === undefined ? undefined : (await call("get_plan", { id: held, per_page: 1 })).data;
        act.value = latest;
        problem.value = "";
        return true;
      } catch (error) {
        problem.value = describeError(error);
        return !isTemporary(error);
      }
    };
    const refresh = createRefresher(read, { delayMs: 300 });
    const timer = setInterval(() => refresh(), pollMs);
    refresh.start();
    return () => {
      clearInterval(timer);
      refresh.stop();
    };
  }, [id]);
  const lines = [
    usedAt.value === null ? words.waiting : words.connected(formatMoment(usedAt.value)),
    ...(act.value === null
      ? []
      : [words.called(sentenceOf(act.value, plan.value), stateOfAct(act.value, plan.value).text)]),
  ];
  return (
    <div class="stack">
      <div role="status">
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        {problem.value !== "" && <p class="error">{problem.value}</p>}
      </div>
      <div class="row">
        <a href={`/console/activity?by=${id}`}>{words.acts}</a>
        <a href={`/console/settings/keys/${id}`}>{words.rules}</a>
      </div>
    </div>
  );
}
