/**
 * Removes the condition on the organization from a statement, of Kysely's builder or of a `sql` template.
 *
 * Some conditions are left out as equivalent, because ids are unique in the whole database: joins on the
 * organization and an id, and statements about a row that was read before (with its `organization_id`) and
 * one of its ids.
 */
import type { Edit } from "../mutation.ts";
import { findChains, type Link } from "./kysely.ts";
import { type ParsedSource, stringOf, withoutParentheses } from "./source.ts";
import { findSql, type SqlText, value } from "./sql.ts";

export function findTenantConditions(source: ParsedSource): Edit[] {
  const built = findChains(source).flatMap((chain) => [
    ...findInChain(chain, source.text),
    ...findBeginning(chain, source.text),
  ]);
  const written = findSql(source).flatMap((sql) => findInSql(sql, source.text));
  return [...built, ...written];
}

const column = /^(?:\w+\.)?organization_id$/;
const conditions = new Set(["where", "on", "having"]);

function findInChain(chain: readonly Link[], text: string): Edit[] {
  const compared = chain.filter(({ name }) => conditions.has(name));
  const isOfRow = compared.some(({ node }) => isId(stringOf(node.arguments[0]) ?? ""));
  return compared
    .filter(({ node }) => column.test(stringOf(node.arguments[0]) ?? ""))
    .filter(({ node: { arguments: parts } }) => {
      const organization = parts[2];
      return organization && !(isOfRow && isReadBefore(text.slice(organization.start, organization.end)));
    })
    .map(({ node, object }) => ({ start: object.end, end: node.end, replacement: "" }));
}

/** `ofOrganization(db, organization)` at the beginning of a chain becomes `db`. */
function findBeginning(chain: readonly Link[], text: string): Edit[] {
  const [first] = chain;
  const begin = first && withoutParentheses(first.object);
  if (begin?.type !== "CallExpression" || begin.callee.type !== "Identifier") {
    return [];
  }
  const [db, organization] = begin.arguments;
  if (begin.callee.name !== "ofOrganization" || !db || !organization) {
    return [];
  }
  const isOfRow = chain.some(
    ({ name, node }) => conditions.has(name) && isId(stringOf(node.arguments[0]) ?? ""),
  );
  if (isOfRow && isReadBefore(text.slice(organization.start, organization.end))) {
    return [];
  }
  return [{ start: begin.start, end: begin.end, replacement: text.slice(db.start, db.end) }];
}

const condition = new RegExp(
  String.raw`(?<=\b(?:where|and|on)\s+|\()(?:\w+\.)?organization_id\s*=\s*(?:any\(${value}(?:::[\w[\]]+)?\)|${value}|organizations\.id)`,
  "g",
);

function findInSql(sql: SqlText, text: string): Edit[] {
  const isOfRow = [...sql.text.matchAll(/([\w.]+)\s*=\s*(?:any\()?\$\{/g)].some(([, name = ""]) =>
    isId(name),
  );
  return [...sql.text.matchAll(condition)]
    .filter((match) => !isJoin(sql.text.slice(match.index + match[0].length)))
    .map((match) => {
      const start = sql.start + match.index;
      return { start, end: start + match[0].length, replacement: "true" };
    })
    .filter(({ start, end }) => {
      const [, organization = ""] = /\$\{(.*)\}/s.exec(text.slice(start, end)) ?? [];
      return !(isOfRow && isReadBefore(organization));
    });
}

/**
 * Whether the condition is followed by a condition on an id and a column, such as `and contacts.id =
 * member.contact_id`.
 */
function isJoin(rest: string): boolean {
  const [, name] = /^\s+and\s+([\w.]+)\s*=\s*\w+\.\w+/.exec(rest) ?? [];
  return name !== undefined && isId(name);
}

/**
 * By the project's names: `organization` is the caller's, and `organization_id` belongs to a row or to the
 * payload of a job.
 */
function isReadBefore(organization: string): boolean {
  return /(?:^|\.)organization_id$/.test(organization.trim());
}

/** Whether a column is an id that this service generates, which is never the same in two organizations. */
function isId(name: string): boolean {
  const [, own = name] = name.split(".");
  return (
    /^(?:\w+_)?id$/.test(own) &&
    !/^(?:organization|processor|external|channel|phone_number|waba|app)_/.test(own)
  );
}
