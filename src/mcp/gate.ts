/**
 * Refuses messages that are JSON and no request: what the protocol's library would fail on without a word, or
 * with the wrong one.
 */

export interface MessageError {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** Deeper than any message that means something, and far from where a recursion ends. */
const maxDepth = 64;

/** Members of params whose type is the same wherever they stand. */
const types: Readonly<Record<string, "string" | "object">> = {
  _meta: "object",
  arguments: "object",
  cursor: "string",
  name: "string",
  uri: "string",
};

function parseError(): MessageError {
  return { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error: this is not JSON" } };
}

/** Whose id stood in a line that was not read to its end, nobody knows. */
export function tooLong(limit: number): MessageError {
  const message = `Invalid request: a line is longer than ${limit} bytes`;
  return { jsonrpc: "2.0", id: null, error: { code: -32_600, message } };
}

/** What is wrong with a message, undefined if it is not JSON; undefined if it may pass. */
export function findFault(message: unknown): MessageError | undefined {
  if (message === undefined) {
    return parseError();
  }
  const { id: given = null, params } = isObject(message) ? message : {};
  const id = typeof given === "string" || typeof given === "number" ? given : null;
  const refuse = (code: number, text: string): MessageError => ({
    jsonrpc: "2.0",
    id,
    error: { code, message: text },
  });
  if (!isObject(message) && !Array.isArray(message)) {
    return refuse(-32_600, "Invalid request: a message is an object");
  }
  if (isTooDeep(message)) {
    return refuse(-32_600, `Invalid request: nested more than ${maxDepth} levels deep`);
  }
  if (params !== undefined && !isObject(params)) {
    return refuse(-32_602, "Invalid params: params is an object");
  }
  const wrong = Object.entries(types).find(([name, type]) => isWrong(params?.[name], type));
  return (
    wrong &&
    refuse(-32_602, `Invalid params: ${wrong[0]} takes ${wrong[1] === "object" ? "an object" : "a text"}`)
  );
}

function isWrong(value: unknown, type: "string" | "object"): boolean {
  return value !== undefined && (type === "object" ? !isObject(value) : typeof value !== "string");
}

/** Level by level and not by recursion, which is what must not happen. */
function isTooDeep(message: object): boolean {
  let level: object[] = [message];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) {
      return true;
    }
    level = level.flatMap((value) => Object.values(value).filter(isStructure));
  }
  return false;
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isStructure(value) && !Array.isArray(value);
}
