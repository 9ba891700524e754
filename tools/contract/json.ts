/** Reads JSON that may be malformed, and measures JSON that may be large. */

/** The value of a JSON text. Undefined, which is never the value of a JSON text, if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether the JSON of a parsed value has at most `limit` characters. Stops at the limit, however large the
 * value is, and does not use recursion, which a deeply nested value would overflow.
 */
export function fitsJson(value: unknown, limit: number): boolean {
  const pending = [value];
  let length = 0;
  while (pending.length > 0 && length <= limit) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null) {
      length += JSON.stringify(next).length;
      continue;
    }
    length += Array.isArray(next) ? Math.max(2, next.length + 1) : frameLength(Object.keys(next));
    for (const member of length <= limit ? Object.values(next) : []) {
      pending.push(member);
    }
  }
  return length <= limit;
}

/**
 * The length of an object without its values. The list of its names has as many brackets and commas as the
 * object.
 */
function frameLength(names: readonly string[]): number {
  return JSON.stringify(names).length + names.length;
}
