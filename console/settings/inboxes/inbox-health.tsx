/** What the last messages of an inbox have shown, and a check of its account now. */
import { useSignal } from "@preact/signals";
import { type Answer, call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import type { Inbox } from "./inbox-state.ts";

type Check = Answer<"check_inbox">["data"];

const words = texts.channels.inboxes.health;

export function InboxHealth({ inbox }: { inbox: Inbox }) {
  const isBusy = useSignal(false);
  const result = useSignal<Check | null>(null);
  const problem = useSignal("");
  const check = async () => {
    isBusy.value = true;
    problem.value = "";
    result.value = null;
    try {
      result.value = (await call("check_inbox", { id: inbox.id })).data;
    } catch (error) {
      problem.value = describeError(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <section class="stack">
      <h3>{words.title}</h3>
      <Health inbox={inbox} />
      {inbox.alert !== null && (
        <div class="notice stack">
          <p>{words.alert(inbox.alert.title, formatMoment(inbox.alert.reported_at))}</p>
          <p>{inbox.alert.advice}</p>
        </div>
      )}
      <div class="row">
        <button
          type="button"
          aria-disabled={isBusy.value}
          onClick={() => {
            if (!isBusy.value) {
              void check();
            }
          }}
        >
          {isBusy.value ? words.checking : words.check}
        </button>
      </div>
      <div role="status">
        {problem.value !== "" && <p class="error">{problem.value}</p>}
        {result.value !== null && <CheckResult check={result.value} simulated={inbox.simulated} />}
      </div>
    </section>
  );
}

function Health({ inbox: { health, simulated } }: { inbox: Inbox }) {
  const { status, reason, since } = health;
  if (status === "ok") {
    return <p>{simulated ? words.okSimulated : words.ok}</p>;
  }
  const time = since === null ? "" : formatMoment(since);
  return (
    <div class="notice bad stack">
      <p>{words[status](time)}</p>
      {reason !== null && <p>{words.reason(reason)}</p>}
      <p>{status === "stopped" ? words.stoppedNext : words.unreachableNext}</p>
    </div>
  );
}

function CheckResult({ check, simulated }: { check: Check; simulated: boolean }) {
  const { problem, latency_ms } = check;
  if (problem === null) {
    return <p class="notice good">{simulated ? words.worksSimulated : words.works(latency_ms)}</p>;
  }
  return (
    <div class="notice bad stack">
      <p>{problem.message}</p>
      <p>{words.next[problem.code]}</p>
    </div>
  );
}
