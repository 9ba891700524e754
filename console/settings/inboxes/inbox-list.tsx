/** The inboxes with their numbers and states, and the ways to add one. */
import { useSignal } from "@preact/signals";
import { call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { type Inbox, isStrict, stateOf } from "./inbox-state.ts";
import { SimulatedDialog } from "./simulated-dialog.tsx";

const words = texts.channels.inboxes;

export function InboxList() {
  const { value, problem, reload } = useReading(async () => (await call("list_inboxes", {})).data);
  const adds = useSignal(false);
  const inboxes = value.value;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.intro}</p>
      {holdsScope("tokens:create") ? (
        <div class="row">
          <a class="button" href="/console/settings/inboxes/whatsapp">
            {words.connect}
          </a>
          <button type="button" onClick={() => (adds.value = true)}>
            {words.simulated.add}
          </button>
        </div>
      ) : (
        <p class="notice">{words.readOnly}</p>
      )}
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {inboxes === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <ul class="link-list">
          {inboxes.map((inbox) => (
            <InboxCard key={inbox.id} inbox={inbox} />
          ))}
        </ul>
      )}
      {inboxes?.length === 0 && <p class="muted">{words.empty}</p>}
      {adds.value && (
        <SimulatedDialog
          inboxes={inboxes ?? []}
          onCreated={() => void reload()}
          onClose={() => (adds.value = false)}
        />
      )}
    </div>
  );
}

function InboxCard({ inbox }: { inbox: Inbox }) {
  const { id, name, channel, phone_number } = inbox;
  return (
    <li>
      <a href={`/console/settings/inboxes/${id}`} data-inbox={id}>
        <span class="row spread">
          <strong>{name}</strong>
          <StateChip inbox={inbox} />
        </span>
        <span class="small muted">
          {[words.channel(channel), phone_number, ...describeRules(inbox)].join(" · ")}
        </span>
      </a>
    </li>
  );
}

/** The window, and the quality at Meta unless it is high. */
function describeRules(inbox: Inbox): string[] {
  const { facts } = words;
  const quality = inbox.limits?.quality ?? "green";
  return [
    isStrict(inbox) ? facts.strictWindow : facts.advisoryWindow,
    ...(quality === "green" ? [] : [facts.rating[quality]]),
  ];
}

export function StateChip({ inbox }: { inbox: Inbox }) {
  const state = stateOf(inbox);
  return <span class={`chip ${state === "ok" ? "good" : "bad"}`}>{words.states[state]}</span>;
}
