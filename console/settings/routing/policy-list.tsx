/** The policies in the order in which they are tried, and the try-out. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { describePolicy } from "./describe-policy.ts";
import { listPolicies, type NamedRecords, type RoutingPolicy, readNamed, reorder } from "./policies.ts";
import { TryOut } from "./try-out.tsx";
import "./routing.css";

const words = texts.routing;

export function PolicyList() {
  const { value, problem, reload } = useReading(async () => {
    const [policies, named] = await Promise.all([listPolicies(), readNamed()]);
    return { policies, named };
  });
  const found = value.value;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.intro}</p>
      {holdsScope("inbox:write") ? (
        <div class="row">
          <a class="button" href="/console/settings/routing/new">
            {words.add}
          </a>
        </div>
      ) : (
        <p class="notice">{words.readOnly}</p>
      )}
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {found === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <>
          {found.policies.length === 0 && <p class="muted">{words.empty}</p>}
          <Policies policies={found.policies} named={found.named} reload={reload} />
          <TryOut named={found.named} />
        </>
      )}
    </div>
  );
}

interface Props {
  readonly policies: readonly RoutingPolicy[];
  readonly named: NamedRecords;
  readonly reload: () => Promise<void>;
}

function Policies({ policies, named, reload }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const notice = useSignal("");
  const isBusy = useSignal(false);
  const run = async (act: () => Promise<unknown>) => {
    if (isBusy.value) {
      return false;
    }
    isBusy.value = true;
    const isDone = await attempt(act);
    await reload();
    isBusy.value = false;
    return isDone;
  };
  const move = async (from: number, to: number) => {
    const next = [...policies];
    const [moved] = next.splice(from, 1);
    if (moved === undefined) {
      return;
    }
    next.splice(to, 0, moved);
    if (await run(() => reorder(next))) {
      notice.value = words.moved(moved.name, to + 1);
      focusMove(list.current, { id: moved.id, isUp: to < from });
    }
  };
  const toggle = ({ id, is_active }: RoutingPolicy) =>
    run(() => call("update_routing_policy", { id, is_active: !is_active }));
  return (
    <>
      <ol ref={list} class="cards" aria-label={words.order}>
        {policies.map((policy, index) => (
          <li key={policy.id} class="stack" data-policy={policy.id}>
            <span class="row spread">
              <a href={`/console/settings/routing/${policy.id}`}>
                <strong>{policy.name}</strong>
              </a>
              <span class="row">
                <span class="chip">{index + 1}</span>
                {!policy.is_active && <span class="chip bad">{words.isOff}</span>}
              </span>
            </span>
            <span class="text">{describePolicy(policy, named)}</span>
            {holdsScope("inbox:write") && (
              <PolicyActs
                policy={policy}
                isFirst={index === 0}
                isLast={index === policies.length - 1}
                onMove={(by) => void move(index, index + by)}
                onToggle={() => void toggle(policy)}
              />
            )}
          </li>
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {notice.value}
      </p>
    </>
  );
}

interface ActsProps {
  readonly policy: RoutingPolicy;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onMove: (by: 1 | -1) => void;
  readonly onToggle: () => void;
}

function PolicyActs({ policy: { name, is_active }, isFirst, isLast, onMove, onToggle }: ActsProps) {
  return (
    <div class="row">
      <button
        type="button"
        data-move="up"
        disabled={isFirst}
        aria-label={words.up(name)}
        onClick={() => onMove(-1)}
      >
        {words.upShort}
      </button>
      <button
        type="button"
        data-move="down"
        disabled={isLast}
        aria-label={words.down(name)}
        onClick={() => onMove(1)}
      >
        {words.downShort}
      </button>
      <button
        type="button"
        aria-label={is_active ? words.turnOff(name) : words.turnOn(name)}
        onClick={onToggle}
      >
        {is_active ? words.off : words.on}
      </button>
    </div>
  );
}

/** The button that was pressed keeps the focus; at the end of the list, the other one gets it. */
function focusMove(
  list: HTMLElement | null,
  { id, isUp }: { readonly id: string; readonly isUp: boolean },
): void {
  const row = list?.querySelector(`[data-policy="${CSS.escape(id)}"]`);
  const buttons = ["up", "down"].map((way) =>
    row?.querySelector<HTMLButtonElement>(`[data-move="${way}"]:not(:disabled)`),
  );
  const [up, down] = buttons;
  (isUp ? (up ?? down) : (down ?? up))?.focus();
}
