/** What to enter at Meta so that messages come in, and whether Meta has called. */
import { CopyText } from "../../controls/copy-text.tsx";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import type { Inbox } from "./inbox-state.ts";
import { StepList } from "./step-list.tsx";
import { recallToken } from "./verify-tokens.ts";

const words = texts.channels.inboxes.webhook;

export function Webhook({ inbox }: { inbox: Inbox }) {
  const { callback_url, last_webhook_at, id } = inbox;
  return (
    <section class="stack">
      {last_webhook_at === null && <StepList current={4} />}
      <h3>{words.title}</h3>
      {last_webhook_at === null ? (
        <Instructions callbackUrl={callback_url} token={recallToken(id)} />
      ) : (
        callback_url !== null && <CopyText label={words.url} text={callback_url} />
      )}
      <div role="status">
        {last_webhook_at !== null ? (
          <p class="notice good">{words.called(formatMoment(last_webhook_at))}</p>
        ) : (
          callback_url !== null && (
            <div class="notice stack">
              <p>{words.waiting}</p>
              <p>{words.stillNothing}</p>
            </div>
          )
        )}
      </div>
    </section>
  );
}

interface Props {
  readonly callbackUrl: string | null;
  readonly token: string | undefined;
}

function Instructions({ callbackUrl, token }: Props) {
  if (callbackUrl === null) {
    return <p class="notice bad">{words.noAddress}</p>;
  }
  return (
    <>
      {callbackUrl.startsWith("http:") && <p class="notice bad">{words.insecure}</p>}
      <p>{words.about}</p>
      <p class="small muted">{words.url}</p>
      <CopyText label={words.url} text={callbackUrl} />
      {token === undefined ? (
        <p>{words.chosenToken}</p>
      ) : (
        <>
          <p class="small muted">{words.token}</p>
          <CopyText label={words.token} text={token} />
        </>
      )}
      <p>{words.fields}</p>
      <ul class="bullets">
        {words.fieldNames.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
