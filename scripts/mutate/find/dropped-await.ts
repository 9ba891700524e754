/**
 * Removes an `await` whose absence the compiler does not report: of a statement without a result, of a
 * condition, and of a `return` in a `try` block, whose `catch` then does not see the rejection.
 */
import { type ESTree, Visitor } from "vite";
import type { Edit } from "../mutation.ts";
import { contains, type ParsedSource, type Range, withoutParentheses } from "./source.ts";

export function findAwaits({ program }: ParsedSource): Edit[] {
  const edits: Edit[] = [];
  const functions: Range[] = [];
  const tries: Range[] = [];
  const returns: ESTree.AwaitExpression[] = [];
  const addFunction = (node: Range) => void functions.push(node);
  const addTest = (test: ESTree.Expression) => {
    const node = withoutParentheses(test);
    const operand = node.type === "UnaryExpression" ? withoutParentheses(node.argument) : node;
    if (operand.type === "AwaitExpression") {
      edits.push(dropAwait(operand));
    }
  };
  new Visitor({
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    TryStatement: ({ block }) => void tries.push(block),
    ExpressionStatement: ({ expression }) => addTest(expression),
    IfStatement: ({ test }) => addTest(test),
    ConditionalExpression: ({ test }) => addTest(test),
    ReturnStatement({ argument }) {
      if (argument?.type === "AwaitExpression") {
        returns.push(argument);
      }
    },
  }).visit(program);
  const caught = returns.filter((node) => isIn(tries, functions, node));
  return [...edits, ...caught.map(dropAwait)];
}

/** Only the keyword, so that parentheses remain. */
function dropAwait({ start, argument }: ESTree.AwaitExpression): Edit {
  return { start, end: argument.start, replacement: "" };
}

/** Whether the node is in one of the blocks, and not in a function inside the block. */
function isIn(blocks: readonly Range[], functions: readonly Range[], node: Range): boolean {
  return blocks.some(
    (block) => contains(block, node) && !functions.some((one) => contains(block, one) && contains(one, node)),
  );
}
