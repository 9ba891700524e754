/** Maps the errors of an exchange to the failures of the port. */
import type { FailedRequest, ForbiddenRequest } from "../../ports/web.ts";
import type { Deadline } from "../../time/deadline.ts";
import { ForbiddenAddressError, UnresolvedHostError } from "./connect.ts";
import { forbid } from "./rules.ts";

type Reason = FailedRequest["reason"];

/** The body of the response is larger than the caller allows. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** The response can't be parsed. */
export class MalformedResponseError extends Error {
  override readonly name = "MalformedResponseError";
}

export function toWebFailure(
  error: unknown,
  host: string,
  deadline: Deadline,
): FailedRequest | ForbiddenRequest {
  if (error instanceof ForbiddenAddressError) {
    return forbid("address", `${host} has no public address.`);
  }
  const reason = deadline.ended ?? reasonOf(error);
  return { outcome: "failed", reason, detail: describeReason(reason, host, error), ms: deadline.elapsedMs() };
}

function describeReason(reason: Reason, host: string, error: unknown): string {
  const code = codeOf(error);
  const needsCode = reason === "tls" || reason === "other";
  return messages[reason](host) + (needsCode ? ` (${code})` : "");
}

function reasonOf(error: unknown): Reason {
  const code = codeOf(error);
  const [, kind] = reasonsByClass.find(([type]) => error instanceof type) ?? [];
  const [, family] = reasonsByPattern.find(([pattern]) => pattern.test(code)) ?? [];
  return kind ?? reasonsByCode[code] ?? family ?? "other";
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return "";
  }
  return "code" in error && error.code !== undefined ? String(error.code) : error.name;
}

const reasonsByClass: readonly [type: new (message?: string) => Error, reason: Reason][] = [
  [UnresolvedHostError, "unresolved"],
  [BodyTooLargeError, "too_large"],
  [MalformedResponseError, "malformed"],
];

const reasonsByCode: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  ECONNRESET: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "reset",
  UND_ERR_HEADERS_OVERFLOW: "malformed",
  HTTPParserError: "malformed", // the error's name: its code is optional
  // OpenSSL's codes for an untrusted certificate.
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls",
  SELF_SIGNED_CERT_IN_CHAIN: "tls",
  HOSTNAME_MISMATCH: "tls",
  EPROTO: "tls",
};

/** Codes that come in families. */
const reasonsByPattern: readonly [pattern: RegExp, reason: Reason][] = [
  [/^HPE_/, "malformed"],
  [/^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/, "tls"],
];

const messages: Readonly<Record<Reason, (host: string) => string>> = {
  timeout: (host) => `${host} did not answer in time.`,
  unresolved: (host) => `No address was found for ${host}.`,
  refused: (host) => `${host} refused the connection.`,
  unreachable: (host) => `${host} can't be reached.`,
  tls: (host) => `The TLS connection to ${host} failed.`,
  reset: (host) => `${host} closed the connection before its response was complete.`,
  malformed: (host) => `The response of ${host} can't be parsed.`,
  too_large: (host) => `The response of ${host} is too large.`,
  aborted: () => "The request was aborted.",
  other: (host) => `The request to ${host} failed.`,
};
