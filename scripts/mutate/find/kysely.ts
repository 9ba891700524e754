/**
 * Finds chains of method calls, as with Kysely's builder: `tx.selectFrom("contacts").where("id", "=",
 * id).execute()`.
 */
import { type ESTree, Visitor } from "vite";
import { type ParsedSource, stringOf, withoutParentheses } from "./source.ts";

export interface Link {
  readonly name: string;
  readonly node: ESTree.CallExpression;
  /** The expression on which the method is called. */
  readonly object: ESTree.Expression;
}

/** Each chain once, from its first call to its last. */
export function findChains({ program }: ParsedSource): Link[][] {
  const seen = new Set<ESTree.CallExpression>();
  const chains: Link[][] = [];
  new Visitor({
    // A chain's last call is visited first.
    CallExpression(node) {
      if (seen.has(node)) {
        return;
      }
      const links = linksOf(node);
      for (const link of links) {
        seen.add(link.node);
      }
      if (links.length > 0) {
        chains.push(links.reverse());
      }
    },
  }).visit(program);
  return chains;
}

function linksOf(expression: ESTree.Expression): Link[] {
  const node = withoutParentheses(expression);
  if (node.type !== "CallExpression") {
    return [];
  }
  const { callee } = node;
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") {
    return [];
  }
  return [{ name: callee.property.name, node, object: callee.object }, ...linksOf(callee.object)];
}

const tableMethods = new Set(["selectFrom", "updateTable", "deleteFrom", "insertInto"]);
const joinMethods = new Set(["innerJoin", "leftJoin", "rightJoin", "fullJoin"]);

export interface ChainTables {
  /** The table of columns without a table name. */
  readonly main: string | undefined;
  /** The tables by the names that the statement gives them. */
  readonly byName: ReadonlyMap<string, string>;
}

export function tablesOf(chain: readonly Link[]): ChainTables {
  const byName = new Map<string, string>();
  let main: string | undefined;
  for (const { name, node } of chain) {
    const text = stringOf(node.arguments[0]);
    if (text !== undefined && (tableMethods.has(name) || joinMethods.has(name))) {
      const [table = "", alias = table] = text.split(" as ");
      byName.set(alias, table);
      main ??= tableMethods.has(name) ? table : undefined;
    }
  }
  return { main, byName };
}
