/** Checks that PostgreSQL can store an input as it was sent: valid text, limited nesting. */
import { failField } from "../../../../tools/errors.ts";

/** Deeper than attributes written by people, and far below the depth at which recursive code fails. */
const maxDepth = 32;

/**
 * PostgreSQL stores neither a zero byte nor half of a surrogate pair.
 * @throws Failure `unstorable_text` or `nested_too_deeply`, naming the field.
 */
export function requireStorable(input: unknown): void {
  // A stack instead of recursion, which a deeply nested input would overflow.
  const pending: { value: unknown; path: readonly string[] }[] = [{ value: input, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value === "string") {
      requireStorableText(value, path);
    }
    if (typeof value === "object" && value !== null) {
      if (path.length > maxDepth) {
        throw failField(path[0] ?? "", "nested_too_deeply", { limit: maxDepth });
      }
      for (const [name, inner] of Object.entries(value)) {
        requireStorableText(name, path);
        pending.push({ value: inner, path: [...path, name] });
      }
    }
  }
}

function requireStorableText(text: string, path: readonly string[]): void {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw failField(path.join("."), "unstorable_text");
  }
}
