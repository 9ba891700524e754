/** Checks that PostgreSQL can store texts unchanged. */
import { formatPath } from "./contract/index.ts";
import { failField } from "./errors.ts";

/** Deeper than attributes written by people, and far below the depth at which recursive code fails. */
const maxDepth = 32;

/**
 * PostgreSQL stores neither a zero byte nor half of a surrogate pair.
 * @throws Failure `unstorable_text`, `nested_too_deeply`.
 */
export function requireStorable(input: unknown): void {
  const found = findUnstorable(input, 0);
  if (found) {
    const { code, path } = found;
    throw code === "nested_too_deeply"
      ? failField(String(path[0] ?? ""), code, { limit: maxDepth })
      : failField(formatPath(path), code);
  }
}

interface Unstorable {
  readonly code: "nested_too_deeply" | "unstorable_text";
  /** The names that lead from the input to the value. */
  readonly path: readonly (string | number)[];
}

function findUnstorable(value: unknown, depth: number): Unstorable | undefined {
  if (typeof value === "string") {
    return isStorable(value) ? undefined : { code: "unstorable_text", path: [] };
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if (depth > maxDepth) {
    return { code: "nested_too_deeply", path: [] };
  }
  for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (typeof name === "string" && !isStorable(name)) {
      return { code: "unstorable_text", path: [] };
    }
    const found = findUnstorable(member, depth + 1);
    if (found) {
      return { ...found, path: [name, ...found.path] };
    }
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
