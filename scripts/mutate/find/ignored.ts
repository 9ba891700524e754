/** The parts of a source in which a changed expression is no defect, or no defect that a test should find. */
import { type ESTree, Visitor } from "vite";
import { type ParsedSource, type Range, withoutParentheses } from "./source.ts";

const levels = new Set(["debug", "info", "warn", "error"]);

export function findIgnored({ program, text }: ParsedSource): Range[] {
  const found: Range[] = [];
  new Visitor({
    CallExpression(node) {
      if (isLogCall(node, text)) {
        found.push(node);
      }
    },
    NewExpression(node) {
      // The text of an internal error.
      if (/Error$/.test(text.slice(node.callee.start, node.callee.end))) {
        found.push(node);
      }
    },
    ConditionalExpression(node) {
      if (isMessageOfError(node, text) || isOrder(node)) {
        found.push(node.test);
      }
    },
    // Declares only a type, although initial values in it are expressions.
    TSDeclareFunction: (node) => void found.push(node),
    TSModuleDeclaration: (node) => void found.push(node),
  }).visit(program);
  return found;
}

/** `world.log.warn(…)`, `log.error(…)`, `this.#log.info(…)`, `console.error(…)`. */
function isLogCall({ callee }: ESTree.CallExpression, text: string): boolean {
  if (callee.type !== "MemberExpression" || callee.computed) {
    return false;
  }
  const name = text.slice(callee.property.start, callee.property.end);
  return (
    levels.has(name) && /(?:\blog|#log|console)$/.test(text.slice(callee.object.start, callee.object.end))
  );
}

/** `error instanceof Error ? error.message : String(error)`. */
function isMessageOfError({ test }: ESTree.ConditionalExpression, text: string): boolean {
  return /^\w+ instanceof Error$/.test(text.slice(test.start, test.end));
}

/**
 * Whether this is the result of a comparison function, for which the order of equal values does not matter.
 */
function isOrder({ consequent, alternate }: ESTree.ConditionalExpression): boolean {
  return [consequent, alternate].some((node) => {
    const value = withoutParentheses(node);
    return value.type === "UnaryExpression" && value.operator === "-" && isOne(value.argument);
  });
}

function isOne(node: ESTree.Expression): boolean {
  return node.type === "Literal" && node.value === 1;
}
