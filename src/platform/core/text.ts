/** Text that PostgreSQL can't hold: a zero byte, and half of a surrogate pair. */
import { refuse } from "../../../tools/failure.ts";

/**
 * Lets through only what can be stored as it is.
 * @throws Failure `unstorable_text` naming the field.
 */
export function requireStorable(value: unknown, path = ""): void {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) {
      throw refuse(path, "unstorable_text");
    }
    return;
  }
  if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const at = path === "" ? name : `${path}.${name}`;
      requireStorable(name, at);
      requireStorable(inner, at);
    }
  }
}
