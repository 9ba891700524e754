/** Which syntax starts a promise, and which syntax handles its failure. */
import { isFunction, type Node, namesIn, type Source } from "./source.ts";

type Call = Node & { readonly type: "CallExpression" };

/** They observe the promises that they are given at once. */
const combinator = /^(?:Promise\.(?:all|allSettled|any|race)|together)$/;

/**
 * Whether the value may be a promise, or a list of some, that is started here and that nothing observes yet.
 * Any call may start one; what is done with its result shows whether it did.
 */
export function startsPromise(source: Source, node: Node | null): boolean {
  switch (node?.type) {
    case "CallExpression":
      return canFail(source, node);
    case "NewExpression": {
      const [executor] = node.arguments;
      const canReject = executor?.type === "ArrowFunctionExpression" && executor.params.length > 1;
      return canReject && source.textOf(node.callee) === "Promise";
    }
    case "ImportExpression":
      return true;
    case "ArrayExpression":
      return node.elements.some((element) => startsPromise(source, element));
    case "SpreadElement":
      return startsPromise(source, node.argument);
    case "ConditionalExpression":
      return startsPromise(source, node.consequent) || startsPromise(source, node.alternate);
    case "LogicalExpression":
      return startsPromise(source, node.left) || startsPromise(source, node.right);
    case "ChainExpression":
    case "TSAsExpression":
      return startsPromise(source, node.expression);
    default:
      return false;
  }
}

/** Not if a failure is handled already, and not for a timer without a signal. */
function canFail(source: Source, call: Call): boolean {
  const name = source.textOf(call.callee);
  const isHandled =
    /\.catch$|^Promise\.allSettled$/.test(name) || (/\.then$/.test(name) && call.arguments[1]);
  const isTimer = /^(?:sleep|delay)$/.test(name) && !/\bsignal\b/.test(source.textOf(call));
  return !isHandled && !isTimer;
}

/** Finds where the variables of a file are observed as promises. */
export class Observer {
  readonly #source: Source;
  readonly #takers: ReadonlySet<string>;
  #handedOn: ReadonlySet<string> = new Set();

  /** @param takers the names of functions that observe a promise which they are given. */
  constructor(source: Source, takers: ReadonlySet<string>) {
    this.#source = source;
    this.#takers = takers;
    this.#handedOn = new Set(this.#findHandedOn());
  }

  /** Where the variable of this name is observed within a node. */
  observationsOf(name: string, within: Node): Node[] {
    return this.#source.identifiers(name, within).filter((node) => this.#isObserved(node));
  }

  /** The variables that a pattern declares and that are observed within a node. */
  observedOf(pattern: Node, within: Node): string[] {
    return namesIn(pattern).filter((name) => this.observationsOf(name, within).length > 0);
  }

  /** Whether a call of this function observes the promises that it is given. */
  takesPromises(callee: Node): boolean {
    const name = this.#source.textOf(callee);
    return combinator.test(name) || this.#takers.has(name);
  }

  /**
   * The names of properties in which functions of this file return promises, such as `run` for
   * `await started.run`.
   */
  #findHandedOn(): string[] {
    return this.#source.nodes.flatMap((node) => {
      if (node.type === "MemberExpression" && !node.computed && this.#isObserved(node)) {
        return [this.#source.textOf(node.property)];
      }
      const isTakenApart = node.type === "VariableDeclarator" && node.id.type === "ObjectPattern";
      const scope = isTakenApart ? this.#source.scopeOf(node) : undefined;
      return isTakenApart && scope ? this.observedOf(node.id, scope) : [];
    });
  }

  /**
   * Whether the place of the expression shows that it is a promise or a list of some, and
   * observes or returns it.
   */
  #isObserved(node: Node): boolean {
    const parent = this.#source.parentOf(node);
    switch (parent?.type) {
      case "AwaitExpression":
        return true;
      case "ArrayExpression":
      case "ChainExpression":
      case "LogicalExpression":
      case "SpreadElement":
      case "TSAsExpression":
        return this.#isObserved(parent);
      case "ConditionalExpression":
        return parent.test !== node && this.#isObserved(parent);
      case "CallExpression":
        return (
          parent.callee !== node && (this.takesPromises(parent.callee) || this.#isExpected(parent, node))
        );
      case "MemberExpression":
        return parent.object === node && this.#isMemberObserved(parent);
      case "Property":
        return parent.value === node && this.#handedOn.has(this.#source.textOf(parent.key));
      default:
        return false;
    }
  }

  /** `expect(promise).rejects` or `.resolves`. */
  #isExpected(call: Call, node: Node): boolean {
    const member = this.#source.parentOf(call);
    const isActual = this.#source.textOf(call.callee) === "expect" && call.arguments[0] === node;
    return isActual && member !== undefined && /\.(?:rejects|resolves)$/.test(this.#source.textOf(member));
  }

  /** `list[0]`, `promise.then(…)` and the like, or `list.map((one) => …)` whose function observes each. */
  #isMemberObserved(member: Node & { readonly type: "MemberExpression" }): boolean {
    if (member.computed) {
      return this.#isObserved(member);
    }
    const call = this.#source.parentOf(member);
    if (call?.type !== "CallExpression" || call.callee !== member) {
      return false;
    }
    const method = this.#source.textOf(member.property);
    const [callback] = call.arguments;
    if (method !== "map" || !callback) {
      return /^(?:then|catch|finally)$/.test(method);
    }
    const [parameter] = isFunction(callback) && "params" in callback ? callback.params : [];
    return parameter ? this.observedOf(parameter, callback).length > 0 : this.takesPromises(callback);
  }
}
