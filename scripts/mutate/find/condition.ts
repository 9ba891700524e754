/** Negates a condition: of an `if` or a conditional expression, an operand of `&&`, or a comparison. */
import { type ESTree, Visitor } from "vite";
import type { Edit } from "../mutation.ts";
import { type ParsedSource, withoutParentheses } from "./source.ts";

const opposites: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

export function findConditions({ program, text }: ParsedSource): Edit[] {
  const edits = new Map<string, Edit>();
  const add = (node: ESTree.Expression) => {
    const edit = negate(withoutParentheses(node), text);
    edits.set(`${edit.start}-${edit.end}`, edit);
  };
  const addTest = (test: ESTree.Expression) => {
    for (const node of [test, ...operandsOf(test)]) {
      add(node);
    }
  };
  new Visitor({
    IfStatement: ({ test }) => addTest(test),
    ConditionalExpression: ({ test }) => addTest(test),
    LogicalExpression(node) {
      // The right operand may be a value, not a condition.
      if (node.operator === "&&") {
        add(node.left);
      }
    },
    BinaryExpression(node) {
      if (node.operator in opposites) {
        add(node);
      }
    },
  }).visit(program);
  return [...edits.values()];
}

/** The operands of a test that are conditions themselves. */
function operandsOf(test: ESTree.Expression): ESTree.Expression[] {
  const node = withoutParentheses(test);
  if (node.type !== "LogicalExpression" || node.operator === "??") {
    return [];
  }
  return [node.left, node.right].flatMap((one) => [one, ...operandsOf(one)]);
}

function negate(node: ESTree.Expression, text: string): Edit {
  if (node.type === "BinaryExpression" && node.left.type !== "PrivateIdentifier") {
    const opposite = opposites[node.operator];
    if (opposite !== undefined) {
      const start = text.indexOf(node.operator, node.left.end);
      return { start, end: start + node.operator.length, replacement: opposite };
    }
  }
  if (node.type === "UnaryExpression" && node.operator === "!") {
    return { start: node.start, end: node.argument.start, replacement: "" };
  }
  return { start: node.start, end: node.end, replacement: `!(${text.slice(node.start, node.end)})` };
}
