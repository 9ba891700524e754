/**
 * Opens connections to permitted addresses only.
 *
 * The check is in the socket's DNS look-up: a name is resolved once, its addresses are checked, and the
 * socket connects to those same addresses, so a name server that changes its answer has no effect. For a host
 * that is an IP address there is no look-up; it is checked before connecting. Both apply to every connection,
 * however many requests it serves.
 *
 * The environment's proxy is not used: it would resolve names without this check.
 */
import { isIP, type LookupFunction } from "node:net";
import type { Agent, buildConnector } from "undici";
import { loadClient } from "../http-client/index.ts";
import { isReachable } from "./addresses.ts";
import type { ResolveHost } from "./resolve.ts";
import { literalAddressesOf, type WebRules } from "./rules.ts";

/** The host has no permitted address; no connection was attempted. */
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

/** The host has no address, or the look-up failed. */
export class UnresolvedHostError extends Error {
  override readonly name = "UnresolvedHostError";
}

export interface ConnectOptions {
  readonly rules: WebRules;
  readonly resolve: ResolveHost;
  /** PEM certificates to trust instead of the default ones. */
  readonly ca?: string | undefined;
  /** Closes every connection, including connections that are being established. */
  readonly stopping: AbortSignal;
}

/**
 * How long an idle connection is kept if the host does not announce a timeout. Servers that close after two
 * seconds without announcing it are common (gunicorn), and a request that meets the close fails. Receivers of
 * more than one request per second keep their connection; for other receivers a new connection is cheap
 * enough.
 */
const idleMs = 1_000;

export async function openAgent(options: ConnectOptions): Promise<Agent> {
  const { rules, resolve, ca, stopping } = options;
  const undici = await loadClient();
  const connectTo = undici.buildConnector({
    lookup: guardedLookup(rules, resolve),
    signal: stopping,
    timeout: 10_000,
    // Tries the addresses of a host one after the other, a second each: the default of 250 ms is too short
    // for intercontinental connections.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    ...(ca === undefined ? {} : { ca }),
  });
  return new undici.Agent({
    connect: guardedConnector(rules, connectTo),
    // No limit per origin: one host may receive for many customers, and a path that hangs would make the
    // requests to other paths wait until they time out. The lanes of the jobs limit how many requests run at
    // once.
    connections: null,
    keepAliveTimeout: idleMs,
    // The deadline of the exchange applies instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function guardedConnector(rules: WebRules, connectTo: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const { hostname } = options;
    if (isIP(hostname) !== 0 && !isReachable(hostname, rules.allowed)) {
      // Asynchronously, like a socket: the pool does not support a synchronous callback.
      queueMicrotask(() => callback(new ForbiddenAddressError(hostname), null));
      return;
    }
    connectTo(options, callback);
  };
}

function guardedLookup(rules: WebRules, resolve: ResolveHost): LookupFunction {
  return (hostname, _, callback) => {
    resolvePermitted(hostname, rules, resolve).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

/** Drops addresses that are not permitted: networks with NAT64 add one to every name. */
async function resolvePermitted(hostname: string, rules: WebRules, resolve: ResolveHost) {
  const addresses = literalAddressesOf(hostname) ?? (await resolveOrThrow(hostname, resolve));
  if (addresses.length === 0) {
    throw new UnresolvedHostError(hostname);
  }
  const permitted = addresses.filter((address) => isReachable(address, rules.allowed));
  if (permitted.length === 0) {
    throw new ForbiddenAddressError(hostname);
  }
  return permitted.map((address) => ({ address, family: isIP(address) }));
}

function resolveOrThrow(hostname: string, resolve: ResolveHost): Promise<readonly string[]> {
  return resolve(hostname).catch((cause: unknown) => {
    throw new UnresolvedHostError(hostname, { cause });
  });
}
