/** The list of keys. */
import { useEffect } from "preact/hooks";
import { readDirectory } from "../../inbox/directory.ts";
import { texts } from "../../texts.ts";
import { Loaded } from "../loaded.tsx";
import { describeRules } from "../rules/describe-rules.ts";
import { KeyFacts, KeyState } from "./key-facts.tsx";
import { type ApiKey, readKeys } from "./read-keys.ts";

const { keys: words } = texts.settings;

export function KeyList() {
  useEffect(() => {
    // Without it the people have no names here.
    readDirectory().catch(() => undefined);
  }, []);
  return (
    <div class="stack">
      <header class="row spread">
        <h2>{words.title}</h2>
        <a href="/console/settings/keys/new">{words.create}</a>
      </header>
      <p class="muted">{words.hint}</p>
      <Loaded read={readKeys}>
        {(keys) => (
          <ul class="cards">
            {keys.map((key) => (
              <KeyRow key={key.id} apiKey={key} />
            ))}
          </ul>
        )}
      </Loaded>
    </div>
  );
}

function KeyRow({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <li class="stack" data-key={apiKey.id}>
      <div class="row">
        <a href={`/console/settings/keys/${apiKey.id}`}>
          <strong>{apiKey.name}</strong>
        </a>
        <KeyState apiKey={apiKey} />
      </div>
      <KeyFacts apiKey={apiKey} />
      <ul class="bullets small" aria-label={texts.settings.rules.title}>
        {describeRules(apiKey.rules, apiKey.budget_use).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </li>
  );
}
