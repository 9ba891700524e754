/** Rejects JSON that is not a valid request, where the SDK would fail silently or with the wrong error. */

export interface JsonRpcError {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** Deeper than any valid message, and far below the limit of a recursion. */
const maxDepth = 64;

/**
 * Values in a message, or in a batch of messages, without the values inside the arguments, which the schema
 * of a tool limits. The SDK describes each invalid value in about 250 characters; an `initialize` request
 * has about 30 values.
 */
const maxValues = 250;

/** Members of params whose type is the same in every method. */
const paramTypes: Readonly<Record<string, "string" | "object">> = {
  _meta: "object",
  arguments: "object",
  cursor: "string",
  name: "string",
  uri: "string",
};

function createParseError(): JsonRpcError {
  return { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error: this is not JSON" } };
}

/** Without an id, because the line was not read to its end. */
export function createLineTooLongError(limit: number): JsonRpcError {
  const message = `Invalid request: a line is longer than ${limit} bytes`;
  return { jsonrpc: "2.0", id: null, error: { code: -32_600, message } };
}

/**
 * @param maxMessages as many as the rate limit allows at once.
 * @returns undefined for what is no batch or no larger.
 */
export function validateBatch(body: unknown, maxMessages: number): JsonRpcError | undefined {
  if (!Array.isArray(body) || body.length <= maxMessages) {
    return undefined;
  }
  const message = `Invalid request: a batch may have at most ${maxMessages} messages. Send several smaller ones`;
  return { jsonrpc: "2.0", id: null, error: { code: -32_600, message } };
}

/** @param message the parsed JSON; undefined for invalid JSON. @returns undefined for a valid message. */
export function validateMessage(message: unknown): JsonRpcError | undefined {
  if (message === undefined) {
    return createParseError();
  }
  const { id: sentId = null, method, params } = isObject(message) ? message : {};
  const id = typeof sentId === "string" || typeof sentId === "number" ? sentId : null;
  const toError = (code: number, text: string): JsonRpcError => ({
    jsonrpc: "2.0",
    id,
    error: { code, message: text },
  });
  if (!isObject(message) && !Array.isArray(message)) {
    return toError(-32_600, "Invalid request: a message must be an object");
  }
  if (Array.isArray(message) && message.length === 0) {
    return toError(-32_600, "Invalid request: a batch must have messages");
  }
  if (isObject(message) && !hasForm(message)) {
    return toError(
      -32_600,
      'Invalid request: a message has jsonrpc "2.0", a method, and as id a text or a whole number',
    );
  }
  if (!hasFewValues(message)) {
    return toError(-32_600, `Invalid request: more than ${maxValues} values, without those inside arguments`);
  }
  if (isDeeperThan(message, maxDepth)) {
    return toError(-32_600, `Invalid request: nested more than ${maxDepth} levels deep`);
  }
  if (params !== undefined && !isObject(params)) {
    return toError(-32_602, "Invalid params: params must be an object");
  }
  if (method === "prompts/get" && isObject(params?.arguments) && !hasTexts(params.arguments)) {
    return toError(-32_602, "Invalid params: the arguments of a prompt must be strings");
  }
  const invalid = Object.entries(paramTypes).find(([name, type]) => isWrongType(params?.[name], type));
  return (
    invalid &&
    toError(
      -32_602,
      `Invalid params: ${invalid[0]} must be ${invalid[1] === "object" ? "an object" : "a string"}`,
    )
  );
}

function hasTexts(value: Readonly<Record<string, unknown>>): boolean {
  return Object.values(value).every((member) => typeof member === "string");
}

/** Whether it is a request, a notification or a response. The SDK checks responses. */
function hasForm({ jsonrpc, id, method, result, error }: Readonly<Record<string, unknown>>): boolean {
  const isResponse = method === undefined && (result !== undefined || error !== undefined);
  const isValidId = id === undefined || typeof id === "string" || Number.isSafeInteger(id);
  return jsonrpc === "2.0" && (isResponse || (typeof method === "string" && isValidId));
}

function isWrongType(value: unknown, type: "string" | "object"): boolean {
  return value !== undefined && (type === "object" ? !isObject(value) : typeof value !== "string");
}

function hasFewValues(message: object): boolean {
  const pending: object[] = [message];
  let count = 0;
  for (let next = pending.pop(); next && count <= maxValues; next = pending.pop()) {
    const names = Object.keys(next);
    count += names.length;
    for (const name of count <= maxValues ? names : []) {
      const value: unknown = Reflect.get(next, name);
      if (name === "arguments" && isStructure(value)) {
        count += Object.keys(value).length;
      } else if (isStructure(value)) {
        pending.push(value);
      }
    }
  }
  return count <= maxValues;
}

/** The recursion ends at the limit. */
function isDeeperThan(value: unknown, levels: number): boolean {
  return (
    isStructure(value) &&
    (levels < 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)))
  );
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isStructure(value) && !Array.isArray(value);
}
