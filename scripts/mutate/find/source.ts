/** A parsed source with its functions, and the functions on the syntax tree that several operators need. */
import { type ESTree, parseSync, Visitor } from "vite";

export interface ParsedSource {
  readonly file: string;
  readonly text: string;
  readonly program: ESTree.Program;
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface NamedRange extends Range {
  readonly name: string;
}

/** @throws Error if the text does not parse. */
export function parseSource(file: string, text: string): ParsedSource {
  const { program, errors } = parseSync(file, text);
  const [error] = errors;
  if (error) {
    throw new Error(`${file} does not parse: ${error.message}`);
  }
  return { file, text, program };
}

/**
 * The functions with a name: declared functions, and functions that are the value of a constant, a property
 * or a class member.
 */
export function findFunctions({ program, text }: ParsedSource): NamedRange[] {
  const found: NamedRange[] = [];
  const add = (node: Range, name: Range | null) => {
    const [word = ""] = (name && /^[\w#$-]+/.exec(text.slice(name.start))) ?? [];
    found.push({ start: node.start, end: node.end, name: word });
  };
  const addMember = (node: Range & { readonly key: Range; readonly value: TypedNode | null }) => {
    if (isFunction(node.value)) {
      add(node, node.key);
    }
  };
  new Visitor({
    FunctionDeclaration: (node) => add(node, node.id),
    Property: addMember,
    MethodDefinition: addMember,
    PropertyDefinition: addMember,
    VariableDeclarator: (node) => addMember({ ...node, key: node.id, value: node.init }),
  }).visit(program);
  return found;
}

interface TypedNode {
  readonly type: string;
}

function isFunction(node: TypedNode | null): boolean {
  return node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression";
}

export function contains(outer: Range, inner: Range): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The smallest of the ranges that contain this one. */
export function innermost<Outer extends Range>(ranges: readonly Outer[], inner: Range): Outer | undefined {
  return ranges
    .filter((range) => contains(range, inner))
    .reduce<Outer | undefined>(
      (best, range) => (best && best.end - best.start <= range.end - range.start ? best : range),
      undefined,
    );
}

/** The expression without the parentheses around it. */
export function withoutParentheses(node: ESTree.Expression): ESTree.Expression {
  return node.type === "ParenthesizedExpression" ? withoutParentheses(node.expression) : node;
}

/** The value of a literal that is a string. */
export function stringOf(node: ESTree.Node | undefined): string | undefined {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
