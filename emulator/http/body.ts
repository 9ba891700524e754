/** Reads the body of a request. */
import type { IncomingMessage } from "node:http";
import { readBytes } from "../../src/streams/bytes.ts";
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import type { Fields } from "../contract/validate.ts";

export const maxJsonBytes = 4 * 1024 * 1024;

/** @throws GraphError for a body that is larger */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new GraphError(100, `The body has more than ${maxBytes} bytes`, { http: 413 });
  return readBytes(request, maxBytes, tooLarge);
}

/** An empty body is an empty object. @throws GraphError for a body that is no JSON object */
export async function readJson(request: IncomingMessage): Promise<Fields> {
  const bytes = await readBody(request, maxJsonBytes);
  if (bytes.length === 0) {
    return {};
  }
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    if (isObject(value)) {
      return value;
    }
  } catch {
    // The error is the same as for another kind of value.
  }
  throw invalidParameter("The body must be a JSON object.");
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
