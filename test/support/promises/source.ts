/** A parsed source file, with what the rules about promises ask of its syntax. */
import { type ESTree, parseSync } from "vite";

export type Node = ESTree.Node;

const functionTypes = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const loopTypes = /^(?:For|ForOf|ForIn|While|DoWhile)Statement$/;

export class Source {
  readonly path: string;
  /** Each before those that it contains. */
  readonly nodes: Node[] = [];
  /** Where the code waits: `await` and `for await`. */
  readonly awaits: Node[] = [];
  readonly #text: string;
  readonly #parents = new Map<Node, Node>();
  readonly #identifiers = new Map<string, Node[]>();

  constructor(path: string, text: string) {
    const { program, errors } = parseSync(path, text, { preserveParens: false });
    if (errors[0]) {
      throw new Error(`${path}: ${errors[0].message}`);
    }
    this.path = path;
    this.#text = text;
    this.#add(program);
  }

  #add(node: Node): void {
    this.nodes.push(node);
    if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await)) {
      this.awaits.push(node);
    } else if (node.type === "Identifier") {
      const known = this.#identifiers.get(node.name);
      known ? known.push(node) : this.#identifiers.set(node.name, [node]);
    }
    for (const child of childrenOf(node)) {
      this.#parents.set(child, node);
      this.#add(child);
    }
  }

  /** The identifiers of this name within a node. */
  identifiers(name: string, within: Node): Node[] {
    return (this.#identifiers.get(name) ?? []).filter((node) => contains(within, node));
  }

  textOf({ start, end }: Node): string {
    return this.#text.slice(start, end);
  }

  lineOf({ start }: Node): number {
    return this.#text.slice(0, start).split("\n").length;
  }

  parentOf(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  /** The nodes that contain it, the innermost first. */
  around(node: Node): Node[] {
    const found: Node[] = [];
    for (let outer = this.parentOf(node); outer; outer = this.parentOf(outer)) {
      found.push(outer);
    }
    return found;
  }

  /** Undefined at the top level of a module. */
  functionOf(node: Node): Node | undefined {
    return this.around(node).find(isFunction);
  }

  /** Where a variable that is declared here is known. */
  scopeOf(node: Node): Node | undefined {
    return this.around(node).find(
      (outer) => outer.type === "BlockStatement" || outer.type === "Program" || isLoop(outer),
    );
  }
}

export function isFunction(node: Node) {
  return functionTypes.test(node.type);
}

export function isLoop(node: Node): boolean {
  return loopTypes.test(node.type);
}

export function contains(outer: Node, { start, end }: Node): boolean {
  return outer.start <= start && end <= outer.end;
}

/** The names that a pattern declares. */
export function namesIn(pattern: Node | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ArrayPattern":
      return pattern.elements.flatMap(namesIn);
    case "ObjectPattern":
      return pattern.properties.flatMap((one) => namesIn(one.type === "Property" ? one.value : one));
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

function childrenOf(node: Node): Node[] {
  const values: readonly unknown[] = Object.values(node).flat();
  return values.filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
