/** Reads HTTP headers: the credential of a request, the tool that makes it, and `Retry-After`. */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The value of `X-API-Key`, or of `Authorization: Bearer` with an API key or an access token. */
export function readCredential(headers: Headers): string | undefined {
  const { "x-api-key": key, authorization = "" } = headers;
  if (typeof key === "string" && key !== "") {
    return /\s/.test(key) ? undefined : key;
  }
  return /^Bearer +(\S+)\s*$/i.exec(String(authorization))?.[1];
}

/**
 * The header with something that is no credential, such as a key without its scheme. Undefined if there is no
 * such header.
 */
export function findMalformedCredential(headers: Headers): string | undefined {
  if (readCredential(headers) !== undefined) {
    return undefined;
  }
  const { "x-api-key": key = "", authorization = "" } = headers;
  return String(key) !== "" ? "X-API-Key" : String(authorization) !== "" ? "Authorization" : undefined;
}

/** The delay of `Retry-After` in ms from `now`, at least 0; undefined if it is neither seconds nor a date. */
export function readRetryAfterMs(header: string, now: Date): number | undefined {
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Names the MCP tool that makes a request. `/mcp` of a service and `tidings mcp` send it with every call. */
export const toolHeader = "x-tidings-tool";

/**
 * The name of the tool that makes the request; undefined for a request that no tool makes, and for a value
 * that is no name of a tool.
 */
export function readToolHeader({ [toolHeader]: name }: Headers): string | undefined {
  return typeof name === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(name) ? name : undefined;
}
