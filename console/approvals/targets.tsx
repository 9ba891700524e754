/** The recipients of a plan: searched and read page by page, those with unusual values first. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { texts } from "../texts.ts";
import type { Plan } from "./plan-list.ts";

type Target = Answer<"get_plan">["data"]["targets"][number];

interface Found {
  readonly targets: readonly Target[];
  readonly total: number;
  readonly page: number;
}

const pageSize = 25;
const typingMs = 250;

export function Targets({ plan: { id, hash } }: { plan: Pick<Plan, "id" | "hash"> }) {
  const search = useSignal("");
  const found = useSignal<Found | null>(null);
  const problem = useSignal("");

  const read = async (page: number, before: readonly Target[]) => {
    const words = search.value.trim();
    try {
      const input = { id, page, per_page: pageSize, ...(words === "" ? {} : { search: words }) };
      const { data, meta } = await call("get_plan", input);
      // An answer to a former search is late.
      if (words === search.value.trim()) {
        found.value = { targets: [...before, ...data.targets], total: meta.total, page };
        problem.value = "";
      }
    } catch (error) {
      problem.value = describeError(error);
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void read(1, []), found.value === null ? 0 : typingMs);
    return () => clearTimeout(timer);
  }, [id, hash, search.value]);

  const { value } = found;
  return (
    <section class="stack">
      <h3>{texts.approvals.targets.title}</h3>
      <input
        type="search"
        aria-label={texts.approvals.targets.search}
        placeholder={texts.approvals.targets.search}
        value={search.value}
        onInput={({ currentTarget }) => (search.value = currentTarget.value)}
      />
      <p class="small muted">{texts.approvals.targets.unusualFirst}</p>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {value?.targets.length === 0 && <p class="muted">{texts.approvals.targets.none}</p>}
      <ul class="targets">
        {value?.targets.map((target, index) => (
          <TargetRow key={`${target.contact_id} ${index}`} target={target} />
        ))}
      </ul>
      {value !== null && value.targets.length < value.total && (
        <div class="row">
          <button type="button" onClick={() => void read(value.page + 1, value.targets)}>
            {texts.approvals.more}
          </button>
        </div>
      )}
    </section>
  );
}

function TargetRow({ target }: { target: Target }) {
  const { name, to, text, excluded, is_unusual } = target;
  return (
    <li>
      <span class="row spread">
        <strong>{name ?? to ?? texts.approvals.targets.nobody}</strong>
        <span class="row">
          {name !== null && <span class="small muted">{to}</span>}
          {is_unusual && <span class="chip">{texts.approvals.targets.unusual}</span>}
        </span>
      </span>
      {excluded === null ? (
        <p class="text">{text}</p>
      ) : (
        <p class="small muted">{texts.approvals.targets.excluded(excluded)}</p>
      )}
    </li>
  );
}
