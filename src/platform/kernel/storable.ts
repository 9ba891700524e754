/** What can be stored as it was sent: well-formed text, and no deeper than anything reads. */
import { failField } from "../../../tools/errors.ts";

/** Deeper than any attribute that a person wrote, and far from where a recursion ends. */
const maxDepth = 32;

/**
 * Lets through only what PostgreSQL can hold: no zero byte, no half of a surrogate pair.
 * @throws Failure `unstorable_text` or `nested_too_deeply`, naming the field.
 */
export function requireStorable(input: unknown): void {
  const waiting = [{ value: input, path: [] as readonly string[] }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === "string") {
      requireText(value, path);
    }
    if (typeof value === "object" && value !== null) {
      if (path.length > maxDepth) {
        throw failField(path[0] ?? "", "nested_too_deeply", { limit: maxDepth });
      }
      for (const [name, inner] of Object.entries(value)) {
        requireText(name, path);
        waiting.push({ value: inner, path: [...path, name] });
      }
    }
  }
}

function requireText(text: string, path: readonly string[]): void {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw failField(path.join("."), "unstorable_text");
  }
}
