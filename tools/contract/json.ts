/** Reads JSON that may be malformed. */

/** The value of a JSON text; undefined, which no JSON text means, where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
