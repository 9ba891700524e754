/** docs/reference/scopes.md: every scope, the roles that have it, and the operations that need it. */
import { roleScopes } from "../../src/platform/account/identity/index.ts";
import { operationsOf } from "../../src/platform/index.ts";
import { type Scope, scopes, scopesOf, toDottedScope } from "../../tools/contract/index.ts";
import { code, type Page, table } from "./markdown.ts";

export function scopesPage(): Page {
  const rows = scopes.map(({ name, grants }) => [
    code(name),
    code(toDottedScope(name)),
    `${grants.charAt(0).toUpperCase()}${grants.slice(1)}`,
    rolesWith(name).join(", "),
    operationsWith(name).map(code).join(", ") || "none yet",
  ]);
  const body = `# Scopes

An API key holds the scopes that it was created with; a signed-in user holds those of the role. Requests take both spellings. \`/v1/api-keys\` answers with dots, everything else with colons. The \`tokens:*\` scopes are granted only by a signed-in owner or admin.

${table(["Scope", "Dotted", "Allows", "Roles", "Needed by"], rows)}

An operation that needs one of several scopes appears at each of them.`;
  return { source: "tools/ and src/platform/account/identity/", body };
}

function rolesWith(scope: Scope): string[] {
  return Object.entries(roleScopes).flatMap(([role, granted]) => (granted.includes(scope) ? [role] : []));
}

function operationsWith(scope: Scope): string[] {
  return Object.entries(operationsOf()).flatMap(([name, operation]) =>
    scopesOf(operation.scope).includes(scope) ? [name] : [],
  );
}
