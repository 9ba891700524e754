/** Requests to APIs that answer with JSON. */
import type { z } from "zod";
import { collectBytes } from "../../streams/bytes.ts";
import type { Deadline } from "../../time/deadline.ts";
import { type ClientRequest, exchange, type HttpHeaders } from "./exchange.ts";

export interface JsonRequest extends ClientRequest {
  /** The value to send as the body. */
  readonly json?: unknown;
  /** The size limit of the answer's body. */
  readonly maxBytes: number;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Undefined if the body is not JSON, or too long. */
  readonly value: unknown;
  readonly isTooLong: boolean;
}

export function fetchJson(
  { json, maxBytes, ...request }: JsonRequest,
  deadline: Deadline,
): Promise<JsonAnswer> {
  const headers = {
    accept: "application/json",
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...request.headers,
  };
  const body = json === undefined ? request.body : JSON.stringify(json);
  return exchange({ ...request, headers, body }, deadline, async (answer) => {
    const { bytes, isCut: isTooLong } = await deadline.within(collectBytes(answer.body, maxBytes));
    const value = isTooLong ? undefined : parseJson(bytes);
    return { status: answer.statusCode, headers: answer.headers, value, isTooLong };
  });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** @throws Error for a value of another form. The error names the wrong members without their values. */
export function parseForm<Schema extends z.ZodType>(
  service: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const members = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
    throw new Error(`${service}'s answer has an unknown form: ${members}.`);
  }
  return parsed.data;
}
