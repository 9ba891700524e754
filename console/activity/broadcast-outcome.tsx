/** What has become of a broadcast: how many messages were sent, delivered and read, as it happens. */
import { useFollowedRecord } from "../live/follow-record.ts";
import { type Answer, call } from "../service/call.ts";
import { texts } from "../texts.ts";
import { formatMoment } from "../time.ts";

type ShownBroadcast = Answer<"get_broadcast">["data"];

const { broadcast: words } = texts.activity;

/** Receipts come for some time after the last message was sent. */
const receiptMs = 10 * 60_000;

export function BroadcastOutcome({ id }: { id: string }) {
  const { value, problem } = useFollowedRecord<ShownBroadcast>(id, {
    read: async () => (await call("get_broadcast", { id })).data,
    events: /^broadcast\./,
    isSettled,
  });
  const broadcast = value.value;
  return (
    <section class="stack" aria-label={words.title}>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {broadcast === null ? problem.value === "" && <p>{texts.loading}</p> : <Shown broadcast={broadcast} />}
    </section>
  );
}

/** Whether no message of it is on the way: only its end and its pauses have events of their own. */
function isSettled({ execution_status, completed_at, stats }: ShownBroadcast): boolean {
  if (execution_status === "processing") {
    return false;
  }
  const isRecent = completed_at !== null && Date.now() - Date.parse(completed_at) < receiptMs;
  return !isRecent || stats.delivered + stats.failed === stats.total;
}

function Shown({ broadcast }: { broadcast: ShownBroadcast }) {
  const { name, execution_status, paused_reason, failure_reason, stats, excluded, cost } = broadcast;
  const { total, sent, delivered, read, failed } = stats;
  const excludedCount = Object.values(excluded).reduce((sum, count) => sum + (count ?? 0), 0);
  const money = cost && texts.approvals.money({ amount: cost.charged, currency: cost.currency });
  const rows: readonly (readonly [string, string | null])[] = [
    [words.facts.status, words.statuses[execution_status]],
    [words.facts.pausedReason, paused_reason && words.pausedReasons[paused_reason]],
    [words.facts.failureReason, failure_reason],
    [words.facts.sent, words.of(sent, total)],
    [words.facts.delivered, words.count(delivered)],
    [words.facts.read, words.count(read)],
    [words.facts.failed, words.count(failed)],
    [words.facts.pending, words.count(total - sent - failed)],
    [words.facts.excluded, excludedCount > 0 ? words.count(excludedCount) : null],
    [words.facts.charged, money && (cost?.simulated ? texts.approvals.simulated(money) : money)],
    [words.facts.ended, broadcast.completed_at && formatMoment(broadcast.completed_at)],
  ];
  return (
    <>
      <h3>{words.named(name)}</h3>
      <progress max={Math.max(total, 1)} value={sent + failed} aria-label={words.progress} />
      <dl class="facts-grid" data-broadcast={broadcast.id}>
        {rows.map(
          ([label, text]) =>
            text !== null && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text}</dd>
              </div>
            ),
        )}
      </dl>
    </>
  );
}
