/** Reads the credential of a request, for REST and MCP. */

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
