/** What is known of a key. */
import { nameOfPerson } from "../../inbox/names.ts";
import { texts } from "../../texts.ts";
import { formatMoment, now } from "../../time.ts";
import type { ApiKey } from "./read-keys.ts";
import { describeScopes } from "./scope-groups.ts";

const { keys: words } = texts.settings;

export function KeyState({ apiKey: { is_active, expires_at } }: { readonly apiKey: ApiKey }) {
  if (is_active) {
    return null;
  }
  const isExpired = expires_at !== null && Date.parse(expires_at) <= now.value;
  return <span class="chip">{isExpired ? words.expired : words.inactive}</span>;
}

export function KeyFacts({ apiKey }: { readonly apiKey: ApiKey }) {
  const { prefix, scopes, last_used_at, expires_at, created_by, created_at } = apiKey;
  const facts: readonly (readonly [keyof typeof words.facts, string])[] = [
    ["prefix", `${prefix}…`],
    ["used", last_used_at === null ? words.neverUsed : formatMoment(last_used_at)],
    ["expires", expires_at === null ? words.never : formatMoment(expires_at)],
    [
      "created",
      words.createdBy(
        created_by === null ? words.createdByService : nameOfPerson(created_by),
        formatMoment(created_at),
      ),
    ],
    ["scopes", describeScopes(scopes).join("; ") || words.noScopes],
  ];
  return (
    <dl class="facts-grid small">
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt>{words.facts[name]}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
