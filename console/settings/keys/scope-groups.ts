/** Scopes in groups that a person can choose from: each level of a group includes those before it. */
import type { Scope } from "../../../tools/contract/index.ts";
import { texts } from "../../texts.ts";

const { scopes: words } = texts.settings;

interface ScopeGroup {
  readonly name: keyof typeof words.groups;
  readonly scopes: readonly Scope[];
}

export const scopeGroups: readonly ScopeGroup[] = [
  { name: "contacts", scopes: ["contacts:read", "contacts:write", "contacts:manage"] },
  { name: "inbox", scopes: ["inbox:read", "inbox:write"] },
  { name: "broadcasts", scopes: ["broadcasts:read", "broadcasts:create", "broadcasts:send"] },
  { name: "templates", scopes: ["templates:read", "templates:create", "templates:manage"] },
  { name: "account", scopes: ["tokens:read", "tokens:create"] },
];

/** How many scopes of each group are chosen, from its first one on. */
export type ScopeLevels = Readonly<Record<ScopeGroup["name"], number>>;

export const presets: Readonly<Record<keyof typeof words.presets, ScopeLevels>> = {
  read: { contacts: 1, inbox: 1, broadcasts: 1, templates: 1, account: 0 },
  everyday: { contacts: 2, inbox: 2, broadcasts: 1, templates: 1, account: 0 },
  /** Its rules hold back what reaches far. */
  assistant: { contacts: 3, inbox: 2, broadcasts: 3, templates: 2, account: 0 },
  everything: { contacts: 3, inbox: 2, broadcasts: 3, templates: 3, account: 2 },
};

export function scopesAt(levels: ScopeLevels): Scope[] {
  return scopeGroups.flatMap(({ name, scopes }) => scopes.slice(0, levels[name]));
}

/** Like `Contacts: read, change`, one for each group. Scopes have two spellings in answers. */
export function describeScopes(held: readonly string[]): string[] {
  const known = new Set(held.map((scope) => scope.replace(".", ":")));
  return scopeGroups.flatMap(({ name, scopes }) => {
    const present = scopes.filter((scope) => known.has(scope));
    return present.length === 0
      ? []
      : [words.group(words.groups[name], present.map((scope) => words.names[scope]).join(", "))];
  });
}
