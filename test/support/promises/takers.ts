/**
 * Which functions observe a promise that they are given: those with a parameter that is declared to be one.
 */
import { isFunction, type Node, type Source } from "./source.ts";

/** Returns a function that names those which a file declares or imports. */
export function findTakers(sources: readonly Source[]): (source: Source) => ReadonlySet<string> {
  const declared = new Map(sources.map((source) => [source, declaredIn(source)]));
  const all = new Set([...declared.values()].flat());
  return (source) =>
    new Set([...(declared.get(source) ?? []), ...importedBy(source).filter((name) => all.has(name))]);
}

function declaredIn(source: Source): string[] {
  return source.nodes.flatMap((node) => {
    if (node.type === "FunctionDeclaration" && node.id) {
      return takesPromise(source, node) ? [node.id.name] : [];
    }
    const isTaker = node.type === "VariableDeclarator" && node.init && takesPromise(source, node.init);
    return isTaker && node.id.type === "Identifier" ? [node.id.name] : [];
  });
}

function importedBy(source: Source): string[] {
  return source.nodes.flatMap((node) => (node.type === "ImportSpecifier" ? [node.local.name] : []));
}

function takesPromise(source: Source, node: Node): boolean {
  const parameters = isFunction(node) && "params" in node ? node.params : [];
  return parameters.some(
    (parameter: Node) =>
      "typeAnnotation" in parameter &&
      parameter.typeAnnotation &&
      /^:\s*Promise</.test(source.textOf(parameter.typeAnnotation)),
  );
}
