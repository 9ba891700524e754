/** Reads HTTP headers: the credential of a request, and `Retry-After`. */

/** The value of `X-API-Key`, or of `Authorization: Bearer` with an API key or an access token. */
export function readCredential(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  const { "x-api-key": key, authorization = "" } = headers;
  if (typeof key === "string" && key !== "") {
    return key;
  }
  return /^Bearer +(\S+)\s*$/i.exec(String(authorization))?.[1];
}

/** The delay of `Retry-After` in ms from `now`, at least 0; undefined if it is neither seconds nor a date. */
export function readRetryAfterMs(header: string, now: Date): number | undefined {
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
