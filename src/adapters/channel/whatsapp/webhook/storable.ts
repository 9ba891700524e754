/** Parses JSON whose texts are stored: PostgreSQL can't store NUL and lone surrogates. */

/** Returns undefined if the text is no JSON. */
export function parseStorable(text: string): unknown {
  try {
    return toStorable(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function toStorable(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replaceAll("\0", "").toWellFormed();
  }
  if (Array.isArray(value)) {
    return value.map(toStorable);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [toStorable(key), toStorable(member)]),
    );
  }
  return value;
}
