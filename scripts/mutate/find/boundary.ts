/** Moves a boundary: `<` and `<=`, `>` and `>=` (also in SQL), or a limit by one. */
import { type ESTree, Visitor } from "vite";
import type { Edit } from "../mutation.ts";
import { type ParsedSource, stringOf } from "./source.ts";
import { findSql } from "./sql.ts";

const neighbours: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };

export function findBoundaries(source: ParsedSource): Edit[] {
  return [...findComparisons(source), ...findSqlComparisons(source), ...findLimits(source)];
}

function findComparisons({ program, text }: ParsedSource): Edit[] {
  const edits: Edit[] = [];
  new Visitor({
    BinaryExpression({ operator, left }) {
      const replacement = neighbours[operator];
      if (replacement !== undefined) {
        const start = text.indexOf(operator, left.end);
        edits.push({ start, end: start + operator.length, replacement });
      }
    },
    // Kysely: where("created_at", "<", time).
    CallExpression({ arguments: parts }) {
      const operator = parts.length === 3 ? parts[1] : undefined;
      const replacement = neighbours[stringOf(operator) ?? ""];
      if (operator && replacement !== undefined) {
        edits.push({ start: operator.start, end: operator.end, replacement: JSON.stringify(replacement) });
      }
    },
  }).visit(program);
  return edits;
}

function findSqlComparisons(source: ParsedSource): Edit[] {
  return findSql(source).flatMap(({ text, start: offset }) =>
    [...text.matchAll(/(?<=\s)[<>]=?(?=\s)/g)].map((match) => {
      const [operator] = match;
      const start = offset + match.index;
      return { start, end: start + operator.length, replacement: neighbours[operator] ?? "" };
    }),
  );
}

/**
 * Names of constants and members that are limits. A change by one unit of time, or of a large number, is not
 * observed.
 */
const limitName = /^(?:max|min)[A-Z_]|(?:Limit|Length|Count|Attempts|_limit|_length|_count)$|^limit$/;
const isUnobservable = (name: string, limit: number) =>
  /(?:Ms|Seconds|_ms|_seconds)$/.test(name) || limit > 10_000;

function findLimits({ program, text }: ParsedSource): Edit[] {
  const edits: Edit[] = [];
  const add = (name: string, node: ESTree.Node | null | undefined) => {
    if (node?.type === "Literal" && typeof node.value === "number" && Number.isInteger(node.value)) {
      if (!isUnobservable(name, node.value)) {
        edits.push({ start: node.start, end: node.end, replacement: String(node.value + 1) });
      }
    }
  };
  const textOf = ({ start, end }: ESTree.Node) => text.slice(start, end);
  const nameOf = (node: ESTree.Node) => /^\w+/.exec(textOf(node))?.[0] ?? "";
  const addNamed = (key: ESTree.Node, node: ESTree.Node | null) => {
    if (limitName.test(nameOf(key))) {
      add(nameOf(key), node);
    }
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => addNamed(id, init),
    Property: ({ key, value }) => addNamed(key, value),
    CallExpression({ callee, arguments: [limit] }) {
      // With a limit of one, the statement reads only one row anyway.
      if (callee.type === "MemberExpression" && nameOf(callee.property) === "limit" && limit) {
        add("limit", textOf(limit) === "1" ? null : limit);
      }
    },
  }).visit(program);
  return edits;
}
