/**
 * Rules about promises. One that fails while nothing observes it ends the process, or the run of the tests,
 * and whether it fails so early is often a matter of chance.
 *
 * Without types, these are the forms that start promises and show them to be some. A promise that is to be
 * observed later gets a handler where it is started: `promise.catch(() => undefined)`.
 */
import { Observer, startsPromise } from "./observation.ts";
import { contains, isFunction, isLoop, type Node, namesIn, Source } from "./source.ts";
import { findTakers } from "./takers.ts";

interface Finding {
  readonly node: Node;
  readonly reason: string;
}

/** Checks files, by path. @returns `path:line: reason` for each place that breaks a rule. */
export function checkPromises(texts: ReadonlyMap<string, string>): string[] {
  const sources = [...texts].map(([path, text]) => new Source(path, text));
  const takersOf = findTakers(sources);
  return sources.flatMap((source) => {
    const observer = new Observer(source, takersOf(source));
    const findings = [
      ...findHeld(source, observer),
      ...findAwaitedInTurn(source, observer),
      ...findHalfStarted(source, observer),
      ...findIgnored(source),
    ];
    return findings.map(({ node, reason }) => `${source.path}:${source.lineOf(node)}: ${reason}`);
  });
}

/** A variable that gets a promise, or several. */
interface Start {
  readonly node: Node;
  readonly name: string;
  /** Where to look for its observation. */
  readonly scope: Node;
}

/** A promise in a variable, and another `await` before the variable is observed. */
function findHeld(source: Source, observer: Observer): Finding[] {
  const starts = source.nodes.flatMap((node) => startsAt(source, node));
  return starts.flatMap(({ node, name, scope }) => {
    const observation = observer.observationsOf(name, scope).find(({ start }) => start >= node.end);
    const other = observation && findAwaitBetween(source, node, observation);
    const line = other && source.lineOf(other);
    return other ? [{ node, reason: `"${name}" is not observed before the await in line ${line}` }] : [];
  });
}

function startsAt(source: Source, node: Node): Start[] {
  const start = (pattern: Node, value: Node | null, scope = source.nodes[0]): Start[] =>
    scope && startsPromise(source, value) ? namesIn(pattern).map((name) => ({ node, name, scope })) : [];
  switch (node.type) {
    case "VariableDeclarator":
      return start(node.id, node.init, source.scopeOf(node));
    case "AssignmentExpression":
      return start(node.left, node.right, source.functionOf(node));
    case "CallExpression": {
      const { callee, arguments: values } = node;
      const isPush = callee.type === "MemberExpression" && source.textOf(callee.property) === "push";
      return isPush ? values.flatMap((one) => start(callee.object, one, source.functionOf(node))) : [];
    }
    default:
      return [];
  }
}

/**
 * In a loop that starts a promise each time, any `await` of the loop comes before the observation behind it.
 */
function findAwaitBetween(source: Source, node: Node, observation: Node): Node | undefined {
  const within = source.functionOf(node);
  const outer = source.around(node);
  const inFunction = within ? outer.slice(0, outer.indexOf(within)) : outer;
  const loop = inFunction.findLast((one) => isLoop(one) && !contains(one, observation));
  return source.awaits.find(
    (one) =>
      one.start >= (loop ?? node).start &&
      one.end <= observation.start &&
      !contains(node, one) &&
      source.functionOf(one) === within,
  );
}

/** A loop over promises: while one is awaited, nothing observes those that follow. */
function findAwaitedInTurn(source: Source, observer: Observer): Finding[] {
  return source.nodes.flatMap((node) => {
    if (node.type !== "ForOfStatement" || node.left.type !== "VariableDeclaration") {
      return [];
    }
    const { left, body } = node;
    const isInTurn = left.declarations.some(({ id }) => observer.observedOf(id, body).length > 0);
    return isInTurn ? [{ node, reason: "promises are awaited one after another" }] : [];
  });
}

/** A call that is started, and then an `await` in the same list. */
function findHalfStarted(source: Source, observer: Observer): Finding[] {
  return source.nodes.flatMap((node) => {
    if (node.type !== "CallExpression" || !observer.takesPromises(node.callee)) {
      return [];
    }
    const [list] = node.arguments;
    const values = list?.type === "ArrayExpression" ? list.elements : node.arguments;
    const started = values.find((value) => startsPromise(source, value));
    const within = source.functionOf(node);
    const isHalf = source.awaits.some(
      (one) =>
        started && one.start >= started.end && contains(node, one) && source.functionOf(one) === within,
    );
    return isHalf ? [{ node, reason: "a call is started before an await in the same list" }] : [];
  });
}

/** They ignore what their callback returns. */
const ignoring =
  /(?:\.(?:on|once|addEventListener|forEach)|^(?:setTimeout|setInterval|setImmediate|queueMicrotask|createServer))$/;

/** An async function that is called by something that ignores its promise. */
function findIgnored(source: Source): Finding[] {
  const named = source.nodes.flatMap((node) => {
    const value = node.type === "VariableDeclarator" ? node.init : node;
    return value && isAsync(value) && "id" in node ? namesIn(node.id) : [];
  });
  const isIgnored = (value: Node) =>
    isAsync(value) || (value.type === "Identifier" && named.includes(value.name));
  return source.nodes.flatMap((node) => {
    const isCall = node.type === "CallExpression" && ignoring.test(source.textOf(node.callee));
    return isCall && node.arguments.some(isIgnored)
      ? [{ node, reason: "nothing observes the promise of this callback" }]
      : [];
  });
}

function isAsync(node: Node): boolean {
  return isFunction(node) && "async" in node && node.async;
}
