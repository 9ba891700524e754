/** One inbox: its state, what is left of its set-up, its settings and its credentials. */
import { Icon } from "../../controls/icon.tsx";
import { useFollowedRecord } from "../../live/follow-record.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import { InboxForm } from "./inbox-form.tsx";
import { InboxHealth } from "./inbox-health.tsx";
import { StateChip } from "./inbox-list.tsx";
import { findInbox, type Inbox, isStrict } from "./inbox-state.ts";
import { ReplaceCredentials } from "./replace-credentials.tsx";
import { TestMessage } from "./test-message.tsx";
import { Webhook } from "./webhook.tsx";

const words = texts.channels.inboxes;

export function InboxDetail({ id }: { id: string }) {
  const { value: inbox, problem } = useFollowedRecord<Inbox>(id, {
    read: () => findInbox(id),
    events: /^inbox\./,
    // The first report of Meta is awaited, and no event tells of it.
    isSettled: ({ simulated, last_webhook_at }) => simulated || last_webhook_at !== null,
  });
  const { value } = inbox;
  return (
    <div class="stack">
      <p>
        <a class="row" href="/console/settings/inboxes">
          <Icon name="back" size={18} />
          {words.back}
        </a>
      </p>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {value === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <Shown inbox={value} onChange={(next) => (inbox.value = next)} />
      )}
    </div>
  );
}

function Shown({ inbox, onChange }: { inbox: Inbox; onChange: (inbox: Inbox) => void }) {
  const mayChange = holdsScope("tokens:create");
  return (
    <>
      <div class="row">
        <h2>{inbox.name}</h2>
        <StateChip inbox={inbox} />
      </div>
      <InboxFacts inbox={inbox} />
      <InboxHealth inbox={inbox} />
      {!inbox.simulated && mayChange && (
        <>
          <Webhook inbox={inbox} />
          <TestMessage inbox={inbox} />
        </>
      )}
      {mayChange ? <InboxForm inbox={inbox} onSaved={onChange} /> : <p class="notice">{words.readOnly}</p>}
      {!inbox.simulated && mayChange && <ReplaceCredentials inbox={inbox} onReplaced={onChange} />}
    </>
  );
}

function InboxFacts({ inbox }: { inbox: Inbox }) {
  const { facts } = words;
  const { channel, phone_number, simulated, limits, last_webhook_at } = inbox;
  const number = new Intl.NumberFormat();
  const rows: readonly (readonly [string, string])[] = [
    [facts.channel, words.channel(channel)],
    [facts.number, phone_number],
    [facts.window, isStrict(inbox) ? facts.strict : facts.advisory],
    ...(limits === null
      ? []
      : ([
          ...(limits.quality === null ? [] : [[facts.quality, facts.qualities[limits.quality]] as const]),
          [
            facts.limit,
            limits.messaging_limit === null ? facts.anyLimit : number.format(limits.messaging_limit),
          ],
          ...(limits.messages_per_second === null
            ? []
            : [[facts.rate, number.format(limits.messages_per_second)] as const]),
        ] as const)),
    ...(simulated
      ? []
      : [[facts.webhook, last_webhook_at === null ? facts.never : formatMoment(last_webhook_at)] as const]),
  ];
  return (
    <dl class="facts-grid">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
