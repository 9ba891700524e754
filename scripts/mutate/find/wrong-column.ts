/** Uses another column of the same table and kind, such as `updated_at` for `created_at`. */
import type { ESTree } from "vite";
import type { Edit } from "../mutation.ts";
import { type ColumnKinds, confusedWith } from "./columns.ts";
import { type ChainTables, findChains, type Link, tablesOf } from "./kysely.ts";
import { type ParsedSource, stringOf } from "./source.ts";
import { findSql, type SqlText } from "./sql.ts";

export function findColumns(source: ParsedSource, columns: ColumnKinds): Edit[] {
  const built = findChains(source).flatMap((chain) => {
    const tables = tablesOf(chain);
    return chain.flatMap((link) => findInLink(link, (name) => replace(name, tables, columns)));
  });
  return [...built, ...findSql(source).flatMap((sql) => findInSql(sql, columns))];
}

type Replace = (name: string) => string | undefined;

const compared = new Set(["where", "whereRef", "having", "orderBy", "groupBy"]);
const returned = new Set(["select", "returning"]);
const written = new Set(["set", "doUpdateSet"]);

function findInLink({ name, node }: Link, replaceName: Replace): Edit[] {
  const [first] = node.arguments;
  if (compared.has(name)) {
    return editsOf(first, replaceName);
  }
  if (returned.has(name)) {
    const parts = first?.type === "ArrayExpression" ? first.elements : [first];
    // The result keeps its name, as in a statement that reads the wrong column.
    return parts.flatMap((part) => editsOf(part ?? undefined, (text) => withAlias(text, replaceName)));
  }
  return written.has(name) && first?.type === "ObjectExpression" ? editMembers(first, replaceName) : [];
}

function editsOf(node: ESTree.Node | undefined, replaceName: Replace): Edit[] {
  const changed = replaceName(stringOf(node) ?? "");
  return node && changed !== undefined
    ? [{ start: node.start, end: node.end, replacement: JSON.stringify(changed) }]
    : [];
}

/** `created_at` becomes `updated_at as created_at`. */
function withAlias(text: string, replaceName: Replace): string | undefined {
  const [name = "", alias = name.split(".").at(-1)] = text.split(" as ");
  const changed = replaceName(name);
  return changed && `${changed} as ${alias}`;
}

function editMembers({ properties }: ESTree.ObjectExpression, replaceName: Replace): Edit[] {
  const members = properties.filter((member) => member.type === "Property" && !member.computed);
  const nameOf = (member: (typeof members)[number]) =>
    member.type === "Property" && member.key.type === "Identifier" ? member.key.name : "";
  const names = new Set(members.map(nameOf));
  return members.flatMap((member) => {
    const changed = replaceName(nameOf(member));
    if (member.type !== "Property" || changed === undefined || names.has(changed)) {
      return [];
    }
    const { start, end } = member.key;
    return [{ start, end, replacement: member.shorthand ? `${changed}: ${nameOf(member)}` : changed }];
  });
}

/** The other column, with the table's name if the original has it. */
function replace(name: string, { main, byName }: ChainTables, columns: ColumnKinds): string | undefined {
  const [column = "", alias] = name.split(".").reverse();
  const table = alias === undefined ? main : (byName.get(alias) ?? alias);
  const other = table === undefined ? undefined : confusedWith(columns, table, column);
  return other && (alias === undefined ? other : `${alias}.${other}`);
}

/**
 * Columns that are compared, set or sorted by. A column without its table's name counts if the statement has
 * only one table.
 */
function findInSql({ text, start: offset }: SqlText, columns: ColumnKinds): Edit[] {
  const named = [...text.matchAll(/\b(?:from|join|update|into)\s+(\w+)(?:\s+as\s+(\w+))?/g)]
    .filter(([, table = ""]) => columns.has(table))
    .map(([, table = "", alias = table]) => [alias, table] as const);
  const byName = new Map(named);
  const all = new Set(byName.values());
  const tables = { main: all.size === 1 ? [...all][0] : undefined, byName };
  const places = text.matchAll(
    /(?<![\w.])(?:\w+\.)?\w+(?=\s*(?:<>|[<>]=?|=|is\b|in\b)\s)|(?<=\border by\s+)(?:\w+\.)?\w+/g,
  );
  return [...places].flatMap((match) => {
    const replacement = replace(match[0], tables, columns);
    const start = offset + match.index;
    return replacement === undefined ? [] : [{ start, end: start + match[0].length, replacement }];
  });
}
