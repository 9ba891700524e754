/** The scopes that a credential can hold, and their two spellings. */

const grants = {
  "contacts:read": "list and retrieve contacts",
  "contacts:write": "create and update contacts",
  "contacts:manage": "delete contacts, manage tags",
  "inbox:read": "read conversations and messages",
  "inbox:write": "send messages, update conversations",
  "broadcasts:read": "list broadcasts, view metrics",
  "broadcasts:create": "create and schedule broadcasts",
  "broadcasts:send": "execute and retry broadcasts",
  "templates:read": "list and retrieve templates",
  "templates:create": "create and submit templates",
  "templates:manage": "delete templates, sync from the review authority",
  "tokens:read": "list API keys and scopes",
  "tokens:create": "create API keys and webhook subscriptions",
} as const;

export type Scope = keyof typeof grants;

// The keys of the literal above.
const names = Object.keys(grants) as Scope[];

/** Every scope with its description, in the specification's order. */
export const scopes: readonly { name: Scope; grants: string }[] = names.map((name) => ({
  name,
  grants: grants[name],
}));

/** Every scope in the colon spelling, which is stored and compared. */
export const allScopes: readonly Scope[] = scopes.map(({ name }) => name);

/** The scopes that let a credential change or send something. */
export const writeScopes: readonly Scope[] = allScopes.filter((scope) => !scope.endsWith(":read"));

/**
 * Whether a scope is for account administration: it has no dotted spelling, and only a signed-in user can
 * grant it.
 */
export function isAdministrative(scope: Scope): boolean {
  return scope.startsWith("tokens:");
}

/** The dotted spelling, or the scope itself if it has none. */
export function toDottedScope(scope: Scope): string {
  return isAdministrative(scope) ? scope : scope.replace(":", ".");
}

const bySpelling = new Map<string, Scope>(
  allScopes.flatMap((scope) => [
    [scope, scope],
    [toDottedScope(scope), scope],
  ]),
);

/** Reads either spelling; undefined for an unknown scope. */
export function readScope(text: string): Scope | undefined {
  return bySpelling.get(text);
}

/** The scopes that an operation requires: one, any one of several, or all of several. */
export type ScopeRule = Scope | { readonly any: readonly Scope[] } | { readonly all: readonly Scope[] };

/** Whether a credential with these scopes satisfies the rule (null: every valid credential does). */
export function permits(held: ReadonlySet<Scope>, rule: ScopeRule | null): boolean {
  const scopes = scopesOf(rule);
  const isAny = typeof rule === "object" && rule !== null && "any" in rule;
  return isAny ? scopes.some((scope) => held.has(scope)) : scopes.every((scope) => held.has(scope));
}

/** The scopes that a rule names. */
export function scopesOf(rule: ScopeRule | null): readonly Scope[] {
  if (rule === null || typeof rule === "string") {
    return rule === null ? [] : [rule];
  }
  return "any" in rule ? rule.any : rule.all;
}

/** A rule in words: `inbox:write`, `one of inbox:write, contacts:write`, `inbox:read and contacts:read`. */
export function describeRule(rule: ScopeRule): string {
  const scopes = scopesOf(rule);
  const isAny = typeof rule === "object" && "any" in rule;
  return isAny ? `one of ${scopes.join(", ")}` : scopes.join(" and ");
}
