/** Which operations a caller may have meant by a path that does not exist. */
import { nearestName, type Operation } from "../../../tools/contract/index.ts";

type Operations = Readonly<Record<string, Pick<Operation, "method" | "path">>>;

const maxRoutes = 3;
/** No path of the catalogue has more segments. */
const maxSegments = 12;

/**
 * Up to three routes, such as `GET /v1/contacts/{id}`: those whose path begins or ends like this one, is
 * this one without a parent such as `contacts/con_1`, or differs in one misspelt word. Those with the
 * same method come first, then the shortest.
 */
export function nearRoutes(
  operations: Operations,
  { method, path }: { readonly method: string; readonly path: string },
): readonly string[] {
  const [version, ...segments] = segmentsOf(path);
  if (version !== "v1" || segments.length === 0 || segments.length > maxSegments) {
    return [];
  }
  return Object.values(operations)
    .flatMap((route) => {
      const [, ...pattern] = segmentsOf(route.path);
      return isNear(pattern, segments) || lacksParent(pattern, segments)
        ? [{ route, otherMethod: route.method === method ? 0 : 1, length: pattern.length }]
        : [];
    })
    .sort((one, other) => one.otherMethod - other.otherMethod || one.length - other.length)
    .slice(0, maxRoutes)
    .map(({ route }) => `${route.method} ${route.path}`);
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** @param pattern segments of a route, such as `contacts` and `{id}`. */
function isNear(pattern: readonly string[], segments: readonly string[]): boolean {
  const { length } = segments;
  const matching = (part: readonly string[]) =>
    part.filter((segment, index) => matches(segment, segments[index])).length;
  if (pattern.length > length) {
    return matching(pattern.slice(0, length)) === length || matching(pattern.slice(-length)) === length;
  }
  const wrong = pattern.findIndex((segment, index) => !matches(segment, segments[index]));
  const [expected = "", given = ""] = [pattern[wrong], segments[wrong]];
  return (
    pattern.length === length &&
    matching(pattern) === length - 1 &&
    nearestName(given, [expected]) !== undefined
  );
}

/** Whether the pattern matches the path without one collection and the id in it. */
function lacksParent(pattern: readonly string[], segments: readonly string[]): boolean {
  return segments.some((segment, index) => {
    const id = segments[index + 1] ?? "";
    const rest = segments.toSpliced(index, 2);
    return (
      matches("{id}", id) &&
      !matches("{id}", segment) &&
      pattern.length === rest.length &&
      pattern.every((part, position) => matches(part, rest[position]))
    );
  });
}

/** A placeholder stands for an id, which no word of a path is. */
function matches(pattern: string, segment = ""): boolean {
  return pattern.startsWith("{") ? /[_\d]/.test(segment) : pattern === segment;
}
